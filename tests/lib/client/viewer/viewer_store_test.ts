import assert from "node:assert/strict";

import { AddressBar, ViewerStore } from "@/lib/client/viewer/viewer_store.ts";
import { writeViewerAddress } from "@/lib/presentation/page_paths.ts";
import { HeldClock } from "@/tests/lib/client/held_clock.ts";

const MANIFEST = "https://arkiv.example/manifest.json";

function manifest(pages: number) {
  return {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id: MANIFEST,
    type: "Manifest",
    label: { sv: ["Volym"] },
    items: Array.from({ length: pages }, (_, index) => ({
      id: `https://arkiv.example/canvas/${index}`,
      type: "Canvas",
      width: 600,
      height: 900,
    })),
  };
}

Deno.test("viewer store: an address that waits to be written is left out once the reader goes back", async () => {
  const location = { hash: writeViewerAddress(MANIFEST, 0), href: "https://site.example/uv.html" };
  const known = Object.getOwnPropertyDescriptor(globalThis, "location");
  Object.defineProperty(globalThis, "location", { value: location, configurable: true });
  const state = { isLimited: false };
  const write = (_data: unknown, _title: string, hash?: string | URL | null) => {
    if (state.isLimited) throw new DOMException("too many changes", "SecurityError");
    location.hash = String(hash);
  };
  const history = { state: null, pushState: write, replaceState: write };
  const clock = new HeldClock();
  const isRead = Promise.withResolvers<void>();
  const store = new ViewerStore(
    () => Promise.resolve(Response.json(manifest(4))),
    new AddressBar({ history: () => history, clock }),
  );
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
    if (known) Object.defineProperty(globalThis, "location", known);
    else Reflect.deleteProperty(globalThis, "location");
  }
});
