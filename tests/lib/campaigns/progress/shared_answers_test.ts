import assert from "node:assert/strict";
import v8 from "node:v8";
import vm from "node:vm";
import { SharedAnswers } from "@/lib/campaigns/progress/shared_answers.ts";
import { judgeAnswer } from "@/lib/campaigns/projection/progress.ts";
import { until } from "@/tests/until.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const TWO = '{"pages_total":2,"pages_done":1}';

Deno.test("shared answers: the same bytes mean the same object, other bytes and the other file another one", () => {
  const shared = new SharedAnswers();
  const answer = shared.judge("progress", 200, bytes(TWO));
  assert.equal(answer.progress?.total, 2);
  assert.equal(shared.judge("progress", 200, bytes(TWO)), answer);
  assert.deepEqual(answer, judgeAnswer("progress", 200, bytes(TWO)));
  assert.equal(shared.judge("progress", 200, bytes('{"pages_total":3}')).progress?.total, 3);
  assert.equal(shared.judge("manifest", 200, bytes(TWO)).progress, null);
  assert.equal(shared.size, 2);
});

Deno.test("shared answers: one that is no longer used leaves memory", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect: () => void = vm.runInNewContext("gc");
  const shared = new SharedAnswers();
  const used = shared.judge("progress", 200, bytes('{"pages_total":7}'));
  (() => {
    for (let total = 0; total < 100; total++) shared.judge("progress", 200, bytes(`{"pages_total":1${total}}`));
  })();
  assert.equal(shared.size, 101);
  await until("all others are collected", () => {
    collect();
    return shared.size === 1 || null;
  });
  assert.equal(shared.judge("progress", 200, bytes('{"pages_total":7}')), used);
});
