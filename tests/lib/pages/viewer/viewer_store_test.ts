import assert from "node:assert/strict";

import { AddressBar, ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import { writeViewerAddress } from "@/lib/pages/page_paths.ts";
import { HeldClock } from "@/tests/lib/pages/browser/held_clock.ts";

const MANIFEST = "https://arkiv.example/manifest.json";

/** Replaces a global until the result is called. */
function replaced(name: "history" | "location", value: object): () => void {
  const known = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true });
  return () => known ? Object.defineProperty(globalThis, name, known) : Reflect.deleteProperty(globalThis, name);
}

/** The history of the browser with fragments as its entries, which refuses changes while it is limited. */
function limitedHistory(write: (hash: string) => void = () => {}) {
  const entries = ["#0"];
  const state = { isLimited: false };
  const change = (keep: (hash: string) => void) => (_data: unknown, _title: string, url?: string | URL | null) => {
    if (state.isLimited) throw new DOMException("too many changes", "SecurityError");
    keep(String(url));
    write(String(url));
  };
  const history = {
    state: null,
    pushState: change((hash) => entries.push(hash)),
    replaceState: change((hash) => entries[entries.length - 1] = hash),
  };
  const clock = new HeldClock();
  return { bar: new AddressBar(clock), entries, state, clock, [Symbol.dispose]: replaced("history", history) };
}

Deno.test("address bar: the last fragment that the browser refuses is written later", async () => {
  using limited = limitedHistory();
  const { bar, entries, state, clock } = limited;
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
  using limited = limitedHistory();
  const { bar, entries, state, clock } = limited;
  for (const next of [() => bar.write("#2", "new"), () => bar.stop()]) {
    state.isLimited = true;
    bar.write("#1", "new");
    state.isLimited = false;
    next();
    await clock.pass(60);
    assert.deepEqual(entries, ["#0", "#2"]);
  }
});

Deno.test("viewer store: an address that waits to be written is left out once the reader goes back", async () => {
  const location = { hash: writeViewerAddress(MANIFEST, 0), href: "https://site.example/uv.html" };
  const restore = replaced("location", location);
  using limited = limitedHistory((hash) => location.hash = hash);
  const { state, clock } = limited;
  const isRead = Promise.withResolvers<void>();
  const items = Array.from({ length: 4 }, () => ({ type: "Canvas", width: 600, height: 900 }));
  const store = new ViewerStore(() => Promise.resolve(Response.json({ type: "Manifest", items })), clock);
  store.manifest.subscribe((read) => read && isRead.resolve());
  const stop = store.start();
  try {
    await isRead.promise;
    store.goTo(1);
    assert.equal(location.hash, writeViewerAddress(MANIFEST, 1));
    state.isLimited = true;
    store.goTo(3);
    location.hash = writeViewerAddress(MANIFEST, 2);
    dispatchEvent(new Event("hashchange"));
    state.isLimited = false;
    await clock.pass(60);
    assert.equal(store.current.value, 2);
    assert.equal(location.hash, writeViewerAddress(MANIFEST, 2));
  } finally {
    stop();
    restore();
  }
});
