import assert from "node:assert/strict";

import { readEvery } from "@/lib/client/card_store.ts";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const seen = { open: false, onScreen: true };
const open = { open: true, onScreen: true };
const running = summary({ name: "a" });
const over = summary({ name: "a", phase: "Succeeded" });
const part = { pagesCoverage: { counted: 1, of: 2 } };

Deno.test("reading plan: a folded running card every two minutes while on screen, an open one every minute", () => {
  assert.equal(readEvery(running, null, seen), 120);
  assert.equal(readEvery(running, detail(running, []), seen), 120);
  assert.equal(readEvery(running, null, { open: false, onScreen: false }), null);
  assert.equal(readEvery(running, null, open), 60);
});

Deno.test("reading plan: a finished campaign is read until its sums are whole, and again after a change of phase", () => {
  assert.equal(readEvery(over, null, seen), 120);
  assert.equal(readEvery(over, detail(over, [], part), seen), 120);
  assert.equal(readEvery(over, detail(over, []), open), null);
  assert.equal(readEvery(over, detail(running, []), open), 60);
});

Deno.test("reading plan: what is folded and not started is not read; what is paused once", () => {
  const paused = summary({ name: "a", phase: "Paused" });
  assert.equal(readEvery(summary({ name: "a", phase: "Queued" }), null, seen), null);
  assert.equal(readEvery(paused, null, seen), 120);
  assert.equal(readEvery(paused, detail(paused, []), seen), null);
});
