import assert from "node:assert/strict";
import fc from "fast-check";

import { prettyJson } from "@/lib/pages/storage/preview/pretty_json.ts";

Deno.test("pretty JSON: one member a line, with values as they are written", () => {
  assert.deepEqual(prettyJson(` {"a":[1, 2.50,{}],"a": 12345678901234567890,"b":"x\\",}\\n" }`), {
    lines: [
      "{",
      '  "a": [',
      "    1,",
      "    2.50,",
      "    {}",
      "  ],",
      '  "a": 12345678901234567890,',
      '  "b": "x\\",}\\n"',
      "}",
    ],
    isCut: false,
  });
  assert.equal(prettyJson("12"), null);
  assert.equal(prettyJson(""), null);
  assert.equal(prettyJson("<p>"), null);
});

Deno.test("pretty JSON: the layout of any document means the same, and is that of JSON.stringify", () => {
  fc.assert(fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
    const { lines } = prettyJson(JSON.stringify(value))!;
    assert.equal(lines.join("\n"), JSON.stringify(value, null, 2));
  }));
});

Deno.test("pretty JSON: a document that is cut anywhere is laid out with all of its characters", () => {
  fc.assert(fc.property(fc.json(), fc.nat(), (json, at) => {
    const cut = json.slice(0, at % (json.length + 1));
    const printed = prettyJson(cut);
    const squeezed = (text: string) => text.replace(/\s/g, "");
    if (printed) assert.equal(squeezed(printed.lines.join("")), squeezed(cut));
  }));
});

Deno.test("pretty JSON: deep nesting and millions of entries stay bounded", () => {
  for (const text of ["[".repeat(256 * 1024), `[${"1,".repeat(128 * 1024)}`, `[${"[],".repeat(80_000)}`]) {
    const { lines, isCut } = prettyJson(text)!;
    assert.equal(isCut, true);
    assert.ok(lines.length <= 20_002);
    assert.ok(lines.every((line) => line.length <= 70));
    assert.ok(lines.reduce((sum, line) => sum + line.length, 0) < 1.2 * 1024 * 1024);
  }
});
