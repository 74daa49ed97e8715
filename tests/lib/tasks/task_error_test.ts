import assert from "node:assert/strict";
import fc from "fast-check";

import { PROBLEM_CODES } from "@/lib/std/coded.ts";
import { failureMembers } from "@/lib/tasks/task_responses.ts";
import { readSentence, storedSentence } from "@/lib/tasks/task.ts";

Deno.test("task error: a stored sentence is read with its code, whatever its text", () => {
  const coded = fc.record({
    code: fc.constantFrom(...PROBLEM_CODES),
    params: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer())).map((params) => ({ ...params })),
  });
  fc.assert(fc.property(fc.string({ unit: "binary" }), coded, (text, coded) => {
    assert.deepEqual(readSentence(storedSentence({ text, coded })), { text, coded: JSON.parse(JSON.stringify(coded)) });
  }));
});

Deno.test("task error: a sentence without a code, as other versions store it, is read as it is", () => {
  for (const text of ["It failed", "", "a\u001f", 'a\u001f{"no":"code"}', "a\u001f{"]) {
    assert.deepEqual(readSentence(storedSentence({ text, coded: null })), { text, coded: null });
  }
  assert.deepEqual(failureMembers(null), {});
  assert.deepEqual(failureMembers("It failed"), { error: "It failed" });
});
