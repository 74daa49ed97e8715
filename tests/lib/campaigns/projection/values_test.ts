import fc from "fast-check";
import assert from "node:assert/strict";
import {
  Fraction,
  instantOf,
  integerOf,
  numberOf,
  parseBucketJson,
  roundScore,
  roundToEven,
} from "@/lib/campaigns/projection/values.ts";

Deno.test("bucket JSON: integers are distinguished from numbers with a fraction or an exponent", () => {
  const cases: [string, number | null, number | null][] = [
    ["1000", 1000, 1000],
    ["-3", -3, -3],
    ["1000.0", null, 1000],
    ["1e2", null, 100],
    ["0.5", null, 0.5],
    ["true", null, null],
    ['"7"', null, null],
    ["null", null, null],
    ["NaN", null, null],
    ["-Infinity", null, null],
    ["1e999", null, null],
  ];
  for (const [text, integer, number] of cases) {
    const value = parseBucketJson(text);
    assert.equal(integerOf(value), integer, text);
    assert.equal(numberOf(value), number, text);
  }
});

Deno.test("bucket JSON: NaN and Infinity cost only themselves, and texts that say so are left alone", () => {
  const text = '{"mean": NaN, "min": -Infinity, "page": "NaN \\" Infinity", "n": 3}';
  assert.deepEqual(parseBucketJson(text), {
    mean: new Fraction(Infinity),
    min: new Fraction(Infinity),
    page: 'NaN " Infinity',
    n: 3,
  });
});

Deno.test("bucket JSON: what is no JSON or no UTF-8 is undefined", () => {
  for (const text of ["", "{", "[NaN", '{"a": "NaN', "NaN NaN", "{'a': 1}", "[".repeat(1_000_000)]) {
    assert.equal(parseBucketJson(text), undefined, text.slice(0, 20));
  }
  assert.equal(parseBucketJson(new Uint8Array([0x22, 0xff, 0x22])), undefined);
  assert.equal(parseBucketJson(new TextEncoder().encode('"åäö"')), "åäö");
});

Deno.test("bucket JSON: a broken file of the largest size is judged at once, however its quotes lie", () => {
  for (const piece of ['\\"', '"', '"\\', "NaN", '"NaN'] as const) {
    const text = `NaN "${piece.repeat(65_536 / piece.length)}`;
    assert.equal(parseBucketJson(text), undefined, piece);
  }
});

Deno.test("bucket JSON: any JSON without fractions comes back as it is", () => {
  const json = fc.jsonValue().filter((value) => !/\d[.e]/.test(JSON.stringify(value)));
  fc.assert(fc.property(json, (value) => {
    assert.equal(JSON.stringify(parseBucketJson(JSON.stringify(value))), JSON.stringify(value));
  }));
});

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
  fc.assert(fc.property(fc.date(range), (date) => assert.equal(instantOf(date.toISOString()), date.getTime())));
});

Deno.test("rounding: halves of whole numbers go to the even neighbour", () => {
  const cases = [[0.5, 0], [1.5, 2], [2.5, 2], [2.4, 2], [2.6, 3], [-0.5, -0], [-1.5, -2]];
  for (const [value, expected] of cases) {
    assert.equal(roundToEven(value) + 0, expected + 0, `${value}`);
  }
});

Deno.test("rounding: scores keep four decimals, exact halves go to the even one", () => {
  const cases = [
    [0.03125, 0.0312],
    [0.09375, 0.0938],
    [0.15625, 0.1562],
    [0.12345, 0.1235],
    [0.00005, 0.0001],
    [0.99999, 1],
    [0.5, 0.5],
    [1, 1],
    [0, 0],
    [2 / 3, 0.6667],
  ];
  for (const [value, expected] of cases) {
    assert.equal(roundScore(value), expected, `${value}`);
  }
});
