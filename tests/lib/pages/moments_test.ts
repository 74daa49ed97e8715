import assert from "node:assert/strict";

import { formatClock, formatEnd, formatFull, formatMoment } from "@/lib/pages/moments.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const stockholm = { zone: "Europe/Stockholm", now };

Deno.test("moments: day, month and clock in the reader's zone, and another year by the reader's calendar", () => {
  const utc = { zone: "UTC", now };
  const cases = [
    ["2026-08-25T12:32:08Z", stockholm, "25 Aug, 14:32"],
    ["2026-08-25T23:05:00Z", utc, "25 Aug, 23:05"],
    ["2026-11-20T00:00:00Z", utc, "20 Nov, 00:00"],
    ["2025-11-02T10:20:00Z", stockholm, "2 Nov 2025, 11:20"],
    ["2025-12-31T23:30:00Z", stockholm, "1 Jan, 00:30"],
    ...[null, "", "yesterday"].map((text) => [text, stockholm, ""] as const),
  ] as const;
  for (const [at, style, text] of cases) assert.equal(formatMoment(at, style), text);
});

Deno.test("moments: the end of a span on the same day is a clock", () => {
  assert.equal(formatEnd("2026-11-12T21:12:00Z", "2026-11-12T09:00:00Z", stockholm), "22:12");
  assert.equal(formatEnd("2026-11-12T23:12:00Z", "2026-11-12T09:00:00Z", stockholm), "13 Nov, 00:12");
});

Deno.test("moments: the whole instant names its zone and offset", () => {
  assert.equal(
    formatFull("2026-08-25T12:32:08Z", "Europe/Stockholm"),
    "25 August 2026, 14:32:08 Europe/Stockholm (UTC+2)",
  );
  assert.equal(formatFull("2026-08-25T12:32:08Z", "Asia/Kolkata"), "25 August 2026, 18:02:08 Asia/Kolkata (UTC+5:30)");
  assert.equal(formatFull("2026-08-25T12:32:08Z", "UTC"), "25 August 2026, 12:32:08 UTC");
  assert.equal(formatFull("yesterday", "UTC"), "");
});

Deno.test("moments: a clock has its seconds", () => {
  assert.equal(formatClock(now + 8000, "Europe/Stockholm"), "13:00:08");
});
