import assert from "node:assert/strict";

import { confidenceStep } from "@/lib/pages/alto/alto_page.ts";
import { confidenceWords } from "@/lib/pages/alto/page_text_sentences.ts";

Deno.test("confidence in words: a percentage that agrees with the step", () => {
  assert.deepEqual([1, 0.9, 0.8999, 0.29, 0].map(confidenceWords), [
    "100 % sure",
    "90 % sure",
    "89 % sure",
    "29 % sure",
    "0 % sure",
  ]);
  assert.equal(confidenceWords(null), "no confidence given");
  for (let thousandths = 0; thousandths <= 1000; thousandths++) {
    const percentage = parseInt(confidenceWords(thousandths / 1000));
    const step = percentage >= 90 ? "high" : percentage >= 70 ? "medium" : "low";
    assert.equal(confidenceStep(thousandths / 1000), step, String(thousandths));
  }
});
