import assert from "node:assert/strict";

import { formatClock, formatEnd, formatFull, formatMoment } from "@/lib/presentation/moments.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const stockholm = { zone: "Europe/Stockholm", now };

Deno.test("moments: day, month and clock in the reader's zone", () => {
  assert.equal(formatMoment("2026-08-25T12:32:08Z", stockholm), "25 Aug, 14:32");
  assert.equal(formatMoment("2026-08-25T23:05:00Z", { zone: "UTC", now }), "25 Aug, 23:05");
});

Deno.test("moments: midnight is 00, not 24", () => {
  assert.equal(formatMoment("2026-11-20T00:00:00Z", { zone: "UTC", now }), "20 Nov, 00:00");
});

Deno.test("moments: another year is said, by the reader's calendar", () => {
  assert.equal(formatMoment("2025-11-02T10:20:00Z", stockholm), "2 Nov 2025, 11:20");
  assert.equal(formatMoment("2025-12-31T23:30:00Z", stockholm), "1 Jan, 00:30");
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
});

Deno.test("moments: what is no moment is nothing", () => {
  for (const text of [null, "", "yesterday"]) {
    assert.equal(formatMoment(text, stockholm), "");
    assert.equal(formatFull(text, "UTC"), "");
  }
});

Deno.test("moments: a clock has its seconds", () => {
  assert.equal(formatClock(now + 8000, "Europe/Stockholm"), "13:00:08");
});
