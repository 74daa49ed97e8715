import assert from "node:assert/strict";
import fc from "fast-check";
import { instantOf } from "@/lib/campaigns/projection/instants.ts";

Deno.test("instants: zones, offsets, fractions and bare dates are read, a time without a zone is UTC", () => {
  const noon = Date.UTC(2025, 0, 31, 12);
  const cases: [string, number][] = [
    ["2025-01-31T12:00:00Z", noon],
    ["2025-01-31T12:00:00", noon],
    ["2025-01-31 12:00:00", noon],
    ["2025-01-31T12:00", noon],
    ["2025-01-31T13:00:00+01:00", noon],
    ["2025-01-31T13:00:00+0100", noon],
    ["2025-01-31T06:30:00-05:30", noon],
    ["2025-01-31T12:00:00.250Z", noon + 250],
    ["2025-01-31", Date.UTC(2025, 0, 31)],
  ];
  for (const [text, expected] of cases) {
    assert.equal(instantOf(text), expected, text);
  }
});

Deno.test("instants: what is no time is null", () => {
  const none = [
    "",
    "soon",
    "2025-02-30T00:00:00Z",
    "2025-13-01",
    "2025-01-31T24:00:00Z",
    "2025-01-31T12:60:00Z",
    "2025-01-31T12:00:00+25:00",
    "2025-01-31T12:00:00Zx",
    "1738324800",
    "0000-01-01",
    "20250131T120000Z",
  ];
  for (const text of none) assert.equal(instantOf(text), null, text);
});

Deno.test("instants: every instant is read back from its ISO text", () => {
  const range = {
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  };
  fc.assert(
    fc.property(
      fc.date(range),
      (date) => assert.equal(instantOf(date.toISOString()), date.getTime()),
    ),
  );
});
