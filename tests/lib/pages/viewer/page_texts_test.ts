import assert from "node:assert/strict";

import { PageTexts } from "@/lib/pages/viewer/page_texts_client.ts";
import type { Link } from "@/lib/pages/iiif/manifest.ts";
import { altoOf } from "@/tests/lib/pages/search/alto_files.ts";

const canvasOf = (name: string) => {
  const link: Link = { href: `https://arkiv.example/${name}.xml`, label: "ALTO", format: null, profile: null };
  return { altoSources: [link], width: 1000, height: 2000 };
};

/** A server whose responses are sent one by one. */
function heldServer() {
  const requests = new Map<string, { readonly signal: AbortSignal; readonly send: () => void }>();
  const fetch = (input: string | URL | Request, init?: RequestInit) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const signal = init!.signal!;
    const name = /(\w+)\.xml$/.exec(String(input))![1];
    signal.addEventListener("abort", () => reject(signal.reason));
    requests.set(name, { signal, send: () => resolve(new Response(altoOf(`text ${name}`))) });
    return promise;
  };
  return { requests, texts: new PageTexts(fetch) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("page texts: those of pages that are left are canceled, and few are read at a time", async () => {
  const { requests, texts } = heldServer();
  const canvases = Array.from({ length: 30 }, (_, index) => canvasOf(`p${index}`));
  for (const [at, canvas] of canvases.entries()) {
    texts.of(canvas);
    texts.cancelAllBut(canvases.slice(at, at + 2));
    await settled();
  }
  assert.deepEqual([...requests].filter(([, { signal }]) => !signal.aborted).map(([name]) => name), ["p29"]);
  for (const canvas of canvases) texts.of(canvas);
  await settled();
  const running = [...requests.values()].filter(({ signal }) => !signal.aborted).length;
  assert.ok(running <= 3, `${running} at a time`);
  texts.cancelAllBut([]);
});

Deno.test("page texts: a text that was canceled is read again where its page comes back", async () => {
  const { requests, texts } = heldServer();
  texts.of(canvasOf("a"));
  await settled();
  texts.cancelAllBut([]);
  const again = texts.of(canvasOf("a"));
  await settled();
  requests.get("a")!.send();
  while (again?.value.kind === "reading") await settled();
  assert.equal(again?.value.kind, "text");
  assert.equal(await texts.whenRead(canvasOf("a")), again?.value);
});

Deno.test("page texts: a text that a caller waits for is not canceled", async () => {
  const { requests, texts } = heldServer();
  const read = texts.whenRead(canvasOf("a"));
  await settled();
  texts.cancelAllBut([]);
  requests.get("a")!.send();
  assert.equal((await read)?.kind, "text");
  assert.equal(await texts.whenRead({ altoSources: [], width: null, height: null }), null);
});
