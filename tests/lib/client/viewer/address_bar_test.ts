import assert from "node:assert/strict";

import { AddressBar } from "@/lib/client/viewer/viewer_store.ts";
import { HeldClock } from "@/tests/lib/client/held_clock.ts";

/** A history that refuses changes while it is limited. */
function limitedHistory() {
  const entries = ["#0"];
  const state = { isLimited: false };
  const change = (write: (hash: string) => void) => (_data: unknown, _title: string, hash?: string | URL | null) => {
    if (state.isLimited) throw new DOMException("too many changes", "SecurityError");
    write(String(hash));
  };
  const history = {
    state: null,
    pushState: change((hash) => entries.push(hash)),
    replaceState: change((hash) => entries[entries.length - 1] = hash),
  };
  const clock = new HeldClock();
  return { bar: new AddressBar({ history: () => history, clock }), entries, state, clock };
}

Deno.test("address bar: a fragment is a new entry or replaces the last one", () => {
  const { bar, entries } = limitedHistory();
  bar.write("#1", "new");
  bar.write("#2", "same");
  assert.deepEqual(entries, ["#0", "#2"]);
});

Deno.test("address bar: the last fragment that the browser refuses is written later", async () => {
  const { bar, entries, state, clock } = limitedHistory();
  state.isLimited = true;
  bar.write("#1", "new");
  bar.write("#2", "same");
  await clock.pass(6);
  assert.deepEqual(entries, ["#0"]);
  state.isLimited = false;
  await clock.pass(6);
  assert.deepEqual(entries, ["#2"]);
});

Deno.test("address bar: a fragment that is written in between replaces one that waits, and a stop ends the waiting", async () => {
  const { bar, entries, state, clock } = limitedHistory();
  state.isLimited = true;
  bar.write("#1", "new");
  state.isLimited = false;
  bar.write("#2", "new");
  await clock.pass(60);
  assert.deepEqual(entries, ["#0", "#2"]);
  state.isLimited = true;
  bar.write("#3", "new");
  bar.stop();
  state.isLimited = false;
  await clock.pass(60);
  assert.deepEqual(entries, ["#0", "#2"]);
});
