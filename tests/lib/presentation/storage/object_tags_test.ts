import assert from "node:assert/strict";

import { readTags, typedTags } from "@/lib/presentation/storage/object_tags.ts";

Deno.test("tags: read by name, with names that JavaScript's objects have themselves", () => {
  assert.deepEqual(readTags(JSON.parse('{"tags":{"b":"2","a":"","__proto__":"x","n":3}}')), [
    ["__proto__", "x"],
    ["a", ""],
    ["b", "2"],
  ]);
  assert.equal(readTags({ detail: "no" }), null);
});

Deno.test("tags: empty rows of the form are left out, and no name stands twice", () => {
  const typed = typedTags([[" a ", " 1 "], ["", " "], ["__proto__", "x"]]);
  assert.deepEqual(Object.entries(typed ?? {}), [["a", "1"], ["__proto__", "x"]]);
  assert.equal(typedTags([["a", "1"], ["a ", "2"]]), null);
  assert.deepEqual(typedTags([]), {});
});
