import assert from "node:assert/strict";

import { isRememberedOpen, rememberOpen } from "@/lib/pages/campaigns/list_memory_client.ts";

Deno.test("fold memory: cards are kept by the key and the words that an earlier front end has stored", () => {
  const held = new Map<string, string>();
  const own = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  const value = {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, word: string) => held.set(key, word),
  };
  Object.defineProperty(globalThis, "localStorage", { configurable: true, value });
  const campaign = { namespace: "batch", name: "svea" };
  try {
    assert.equal(isRememberedOpen(campaign), false);
    for (const [isOpen, word] of [[true, "open"], [false, "closed"]] as const) {
      rememberOpen(campaign, isOpen);
      assert.deepEqual([...held], [["htrflow.card.batch/svea", word]]);
      assert.equal(isRememberedOpen(campaign), isOpen);
    }
  } finally {
    if (own) Object.defineProperty(globalThis, "localStorage", own);
    else Reflect.deleteProperty(globalThis, "localStorage");
  }
});
