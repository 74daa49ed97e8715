import assert from "node:assert/strict";

import { isRememberedOpen, rememberOpen } from "@/lib/client/list_memory.ts";

/** Runs with a browser's storage that holds some entries, and returns what it holds then. */
function withStorage(entries: readonly (readonly [string, string])[], run: () => void): [string, string][] {
  const held = new Map(entries);
  const own = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: {
      getItem: (key: string) => held.get(key) ?? null,
      setItem: (key: string, value: string) => held.set(key, value),
    },
  });
  try {
    run();
  } finally {
    if (own) Object.defineProperty(globalThis, "localStorage", own);
    else Reflect.deleteProperty(globalThis, "localStorage");
  }
  return [...held];
}

const CAMPAIGN = { namespace: "batch", name: "svea" };
const KEY = "htrflow.card.batch/svea";

Deno.test("fold memory: a card that an earlier front end has stored as open is open, any other one is folded", () => {
  const isOpen: boolean[] = [];
  withStorage([[KEY, "open"]], () => isOpen.push(isRememberedOpen(CAMPAIGN)));
  withStorage([[KEY, "closed"]], () => isOpen.push(isRememberedOpen(CAMPAIGN)));
  withStorage([], () => isOpen.push(isRememberedOpen(CAMPAIGN)));
  assert.deepEqual(isOpen, [true, false, false]);
});

Deno.test("fold memory: opening and folding a card store the words that the key has always had", () => {
  assert.deepEqual(withStorage([], () => rememberOpen(CAMPAIGN, true)), [[KEY, "open"]]);
  assert.deepEqual(withStorage([[KEY, "open"]], () => rememberOpen(CAMPAIGN, false)), [[KEY, "closed"]]);
});
