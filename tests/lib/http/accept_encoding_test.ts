import assert from "node:assert/strict";
import fc from "fast-check";
import { CODINGS, preferredCoding } from "@/lib/http/header_values.ts";

Deno.test("accept encoding: the coding of the largest weight wins, of equal ones the first that is available", () => {
  const cases: [string | null, string | null][] = [
    [null, null],
    ["", null],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["GZIP", "gzip"],
    ["br;q=0.5, gzip", "gzip"],
    ["br ; q=0.5 ,gzip;Q=0.4", "br"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["gzip;q=0.2, *;q=0.1", "gzip"],
    ["*;q=0", null],
    ["gzip;q=0", null],
    ["gzip;q=0.000", null],
    ["identity", null],
    ["identity, gzip;q=0.5", null],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["identity;q=0", null],
    ["deflate", null],
  ];
  for (const [header, coding] of cases) assert.equal(preferredCoding(header, CODINGS), coding, String(header));
  assert.equal(preferredCoding("br, gzip;q=0.1", ["gzip"]), "gzip");
});

Deno.test("accept encoding: a coding with a malformed weight is not used, and `*` does not stand for it", () => {
  assert.equal(preferredCoding("gzip;q=-1, br;q=0, *;q=1", CODINGS), null);
  assert.equal(preferredCoding("gzip;q=0.0000, *", ["gzip"]), null);
  for (const element of ["gzip;q=2", "gzip;q=-1", "gzip;q=0.1234", "gzip;q=", "gzip;level=1", "gzip;q=1;q=1", ";q=1"]) {
    assert.equal(preferredCoding(element, CODINGS), null, element);
    assert.equal(preferredCoding(`${element}, br;q=0.1`, CODINGS), "br", element);
  }
  fc.assert(fc.property(fc.string(), (header) => void preferredCoding(header, CODINGS)));
});
