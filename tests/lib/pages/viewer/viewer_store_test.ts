import assert from "node:assert/strict";

import { AddressBar, ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import { writeViewerAddress } from "@/lib/pages/page_paths.ts";
import { readVolumeAddress } from "@/lib/pages/volume_address.ts";
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

/** A store that has opened the manifest of a fragment. Any file that is not named is 404. */
async function openedStore(hash: string, files: Readonly<Record<string, unknown>>) {
  const location = { hash, href: "https://site.example/uv.html" };
  const restore = replaced("location", location);
  const limited = limitedHistory((hash) => location.hash = hash);
  const isRead = Promise.withResolvers<void>();
  const request = (url: string | URL | Request) =>
    Promise.resolve(String(url) in files ? Response.json(files[String(url)]) : new Response("", { status: 404 }));
  const store = new ViewerStore(request, readVolumeAddress, limited.clock);
  store.manifest.subscribe((read) => read && isRead.resolve());
  const stop = store.start();
  await isRead.promise;
  return {
    ...limited,
    store,
    location,
    [Symbol.dispose]() {
      stop();
      restore();
      limited[Symbol.dispose]();
    },
  };
}

Deno.test("viewer store: an address that waits to be written is left out once the reader goes back", async () => {
  const items = Array.from({ length: 4 }, () => ({ type: "Canvas", width: 600, height: 900 }));
  using opened = await openedStore(writeViewerAddress(MANIFEST, 0), { [MANIFEST]: { type: "Manifest", items } });
  const { store, location, state, clock } = opened;
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
});

Deno.test("viewer store: a volume without a published manifest opens with the pages of its source", async () => {
  const folder = "https://site.example/results/ns/p/v1";
  const source = "https://arkiv.example/v1/manifest.json";
  const items = Array.from({ length: 2 }, () => ({ type: "Canvas", width: 600, height: 900 }));
  const files: Readonly<Record<string, unknown>> = {
    [source]: { type: "Manifest", items },
    [`${folder}/progress.json`]: { last_error: { page: "0002", error: "too dark" } },
    "https://site.example/results/_pages/ns/p/v1": { pages: [], next: null },
  };
  const volume = { pipeline: "p", id: "v1", sourceUrl: source };
  const address = (place: number | string) => writeViewerAddress(`${folder}/iiif.json`, place, null, volume);
  using opened = await openedStore(address("0002"), files);
  const { store } = opened;
  assert.equal(store.problem.value, null);
  assert.deepEqual([...store.unread.value], [[0, null], [1, "too dark"]]);
  assert.equal(store.current.value, 1);
  assert.equal(store.addressOf(0), address("0001"));
});

Deno.test("viewer store: a volume of a run opens with all of its pages, named as the address names them", async () => {
  const folder = "https://site.example/results/ns/p/v1";
  const image = (page: number) => `https://images.example/${page}/full/max/0/default.jpg`;
  const canvas = (page: number, alto: boolean) => ({
    type: "Canvas",
    label: { none: [alto ? `000${page}` : `[${page}]`] },
    items: [{ items: [{ motivation: "painting", body: { id: image(page), type: "Image" } }] }],
    seeAlso: alto ? [{ id: `${folder}/alto/000${page}.xml`, type: "Dataset", format: "application/xml+alto" }] : [],
  });
  const source = "https://arkiv.example/v1/manifest.json";
  const files: Readonly<Record<string, unknown>> = {
    [`${folder}/iiif.json`]: { type: "Manifest", items: [canvas(1, true), canvas(3, true)] },
    [source]: { type: "Manifest", items: [canvas(1, false), canvas(2, false), canvas(3, false), canvas(4, false)] },
    [`${folder}/manifest.json`]: { results: { "0002": { status: "failed", error: "too dark" } } },
    "https://site.example/results/_pages/ns/p/v1": { pages: ["0001", "0003"], next: "0003.xml" },
    "https://site.example/results/_pages/ns/p/v1?after=0003.xml": { pages: ["0004"], next: null },
  };
  const volume = { pipeline: "p", id: "v1", sourceUrl: source };
  const address = (place: number | string) => writeViewerAddress(`${folder}/iiif.json`, place, null, volume);
  using opened = await openedStore(address(1), files);
  const { store, location } = opened;
  assert.deepEqual(store.manifest.value?.canvases.map(({ label }) => label), ["0001", "0002", "0003", "0004"]);
  assert.deepEqual([...store.unread.value], [[1, "too dark"]]);
  assert.equal(store.manifest.value?.canvases[3].altoSources[0].href, `${folder}/alto/0004.xml`);
  assert.equal(store.current.value, 2);
  store.goTo(1);
  assert.equal(location.hash, address("0002"));
  location.hash = address("0004");
  dispatchEvent(new Event("hashchange"));
  assert.equal(store.current.value, 3);
  assert.equal(store.addressOf(2), address(1));
});
