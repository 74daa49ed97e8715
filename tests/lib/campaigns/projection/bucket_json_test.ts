import assert from "node:assert/strict";
import fc from "fast-check";
import { Fraction, integerOf, numberOf, parseBucketJson } from "@/lib/campaigns/projection/bucket_json.ts";

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
  for (
    const text of [
      "",
      "{",
      "[NaN",
      '{"a": "NaN',
      "NaN NaN",
      "{'a': 1}",
      "[".repeat(1_000_000),
    ]
  ) {
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
    assert.equal(
      JSON.stringify(parseBucketJson(JSON.stringify(value))),
      JSON.stringify(value),
    );
  }));
});
