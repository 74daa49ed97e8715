import assert from "node:assert/strict";
import fc from "fast-check";

import { preferredLanguage } from "@/lib/http/header_values.ts";

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
