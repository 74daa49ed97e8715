import assert from "node:assert/strict";
import fc from "fast-check";
import { CODINGS, preferredCoding, preferredLanguage } from "@/lib/http/header_values.ts";

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

const AVAILABLE = ["en", "sv"] as const;

Deno.test("accept language: the largest weight wins, of equal ones the first that is named", () => {
  const cases: [string | null, string | null][] = [
    [null, null],
    ["", null],
    ["sv", "sv"],
    ["SV-se", "sv"],
    ["sv-FI", "sv"],
    ["sv-SE,sv;q=0.9,en-US;q=0.8,en;q=0.7", "sv"],
    ["en-US,en;q=0.9,sv;q=0.8", "en"],
    ["en;q=0.5, sv", "sv"],
    ["sv, en", "sv"],
    ["fi, sv;q=0.8, en;q=0.5", "sv"],
    ["fi", null],
    ["*", "en"],
    ["*, sv;q=0.5", "en"],
    ["en;q=0, *", "sv"],
    ["sv;q=0.5, *;q=0.1", "sv"],
    ["sv;q=0", null],
    ["sv-FI;q=0.9, sv;q=0, en;q=0.5", "sv"],
    ["svx", null],
  ];
  for (const [header, language] of cases) assert.equal(preferredLanguage(header, AVAILABLE), language, String(header));
});

Deno.test("accept language: a malformed weight speaks for no language, and a hostile header is not read to its end", () => {
  for (const element of ["sv;q=2", "sv;q=-1", "sv;q=", "sv;level=1", "sv;q=1;q=1"]) {
    assert.equal(preferredLanguage(`${element}, en;q=0.1`, AVAILABLE), "en", element);
  }
  assert.equal(preferredLanguage(`${"x,".repeat(500)}sv`, AVAILABLE), null);
  fc.assert(fc.property(fc.string(), (header) => {
    const found = preferredLanguage(header, AVAILABLE);
    assert.ok(found === null || AVAILABLE.includes(found));
  }));
});
