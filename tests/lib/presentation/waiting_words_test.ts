import assert from "node:assert/strict";

import type { WaitingCode } from "@/lib/campaigns/projection/types.ts";
import { waitingWords } from "@/lib/presentation/waiting_words.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";

const waiting = (code: WaitingCode) => ({ code, reason: "Pending", message: "no quota for gpu", since: null });

Deno.test("waiting: every cause has a sentence, with the cluster's words beside it", () => {
  const codes: WaitingCode[] = ["suspended", "queue", "quota", "warmup", "unschedulable", "no-pods"];
  const words = codes.map((code) => waitingWords(summary({ name: "a", phase: "Queued", waiting: waiting(code) })));
  assert.equal(new Set(words.map((words) => words?.text)).size, codes.length);
  assert.equal(words[0]?.raw, "Pending: no quota for gpu");
});

Deno.test("waiting: a queued campaign of which nothing is known waits for its warm-up or its turn", () => {
  const queued = { name: "a", phase: "Queued" } as const;
  assert.match(waitingWords(summary({ ...queued, warmup: { phase: "running" } }))?.text ?? "", /warm-up/);
  assert.match(waitingWords(summary(queued))?.text ?? "", /turn/);
});

Deno.test("waiting: a paused campaign says how many volumes are not started, whatever holds it", () => {
  const paused = (done: number, code: WaitingCode | null, active = 0) => {
    const counts = { total: 4, active, done, failed: 1 };
    const job = summary({ name: "a", phase: "Paused", suspended: true, counts, waiting: code && waiting(code) });
    return waitingWords(job)?.text;
  };
  for (const code of ["suspended", "queue", null] as const) {
    assert.equal(paused(1, code), "Paused. 2 volumes are not started.");
  }
  assert.equal(paused(1, "queue", 1), "Paused. 1 volume is not started.");
  assert.equal(paused(3, "suspended"), "Paused.");
  assert.equal(paused(1, "quota"), "Paused. 2 volumes are not started. Waits until its queue has quota left.");
});

Deno.test("waiting: a campaign that works or has ended waits for nothing", () => {
  assert.equal(waitingWords(summary({ name: "a" })), null);
  assert.equal(waitingWords(summary({ name: "a", phase: "Failed", waiting: waiting("queue") })), null);
});
