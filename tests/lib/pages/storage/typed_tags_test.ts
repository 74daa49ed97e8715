import assert from "node:assert/strict";

import { typedTags } from "@/lib/pages/storage/typed_tags.ts";

Deno.test("tags: empty rows of the form are left out, and no name stands twice", () => {
  const typed = typedTags([[" a ", " 1 "], ["", " "], ["__proto__", "x"]]);
  assert.deepEqual(Object.entries(typed ?? {}), [["a", "1"], ["__proto__", "x"]]);
  assert.equal(typedTags([["a", "1"], ["a ", "2"]]), null);
  assert.deepEqual(typedTags([]), {});
});
