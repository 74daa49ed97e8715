import assert from "node:assert/strict";
import { isTagName, isTagValue } from "@/lib/s3/objects.ts";

Deno.test("tags: the names and values that S3 allows, counted in characters", () => {
  assert.ok(isTagName("𝔸".repeat(128)) && !isTagName("𝔸".repeat(129)));
  assert.ok(isTagValue("𝔸".repeat(256)) && !isTagValue("𝔸".repeat(257)));
  assert.ok(isTagValue("") && !isTagName(""));
  assert.ok(isTagName("awsome") && isTagValue("aws:x") && isTagName("x-aws:") && isTagName("__proto__"));
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code);
    const isAllowed = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]$/u.test(character);
    assert.equal(isTagValue(character), isAllowed, code.toString(16));
  }
  for (const text of ["aws:x", "AwS:x"]) assert.ok(!isTagName(text), text);
  for (const text of ["<", "a&b", "a\nb", "\0", "\ud800", "🙂", 'a"', "a,b", "a;"]) {
    assert.ok(!isTagName(text) && !isTagValue(text), JSON.stringify(text));
  }
});
