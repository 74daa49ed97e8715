import assert from "node:assert/strict";
import { PageCache } from "@/embedded/archive/page_cache.ts";

const { signal } = new AbortController();

Deno.test("page cache: renders once for concurrent requests and evicts the least recently used image", async () => {
  const cache = new PageCache(25);
  let rendered = 0;
  const render = () => {
    rendered++;
    return Promise.resolve(new Uint8Array(10));
  };
  await Promise.all([
    cache.get("a", "127.0.0.1", signal, render),
    cache.get("a", "127.0.0.1", signal, render),
    cache.get("b", "127.0.0.1", signal, render),
  ]);
  assert.equal(rendered, 2);
  await assert.rejects(cache.get("bad", "127.0.0.1", signal, () => Promise.reject(new Error("no"))), /no/);
  await cache.get("a", "127.0.0.1", signal, render);
  assert.equal(rendered, 2);
  await cache.get("c", "127.0.0.1", signal, render);
  assert.equal(cache.bytes, 20);
  await cache.get("a", "127.0.0.1", signal, render);
  assert.equal(rendered, 3);
  await cache.get("b", "127.0.0.1", signal, render);
  assert.equal(rendered, 4);
});

Deno.test("page cache: each address has a rendering of its own, whose image serves all", async () => {
  const cache = new PageCache(1000);
  const renderings: PromiseWithResolvers<Uint8Array<ArrayBuffer>>[] = [];
  const render = () => {
    const rendering = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    renderings.push(rendering);
    return rendering.promise;
  };
  const slow = cache.get("a", "192.0.2.1", signal, render);
  const fast = cache.get("a", "192.0.2.2", signal, render);
  assert.equal(renderings.length, 2);
  renderings[1].resolve(Uint8Array.of(2));
  assert.deepEqual(await fast, Uint8Array.of(2));
  assert.deepEqual(await cache.get("a", "192.0.2.3", signal, render), Uint8Array.of(2));
  renderings[0].resolve(Uint8Array.of(2));
  await slow;
  assert.equal(cache.bytes, 1);
});

Deno.test("page cache: a rendering ends when the last request for it has ended, and not before", async () => {
  const cache = new PageCache(1000);
  const requests = [new AbortController(), new AbortController()];
  let stopped = 0;
  const render = (signal: AbortSignal) => {
    const { promise, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    signal.addEventListener("abort", () => {
      stopped++;
      reject(new Error("stopped"));
    });
    return promise;
  };
  const outcomes = requests.map(({ signal }) =>
    cache.get("a", "127.0.0.1", signal, render).catch((error: Error) => error.message)
  );
  requests[0].abort();
  assert.equal(stopped, 0);
  requests[1].abort();
  assert.equal(stopped, 1);
  // A request that comes now begins anew, although the end of the first rendering is not reported yet.
  const image = await cache.get("a", "127.0.0.1", signal, () => Promise.resolve(Uint8Array.of(1)));
  assert.deepEqual(image, Uint8Array.of(1));
  assert.deepEqual(await Promise.all(outcomes), ["stopped", "stopped"]);
  assert.deepEqual(await cache.get("a", "127.0.0.1", signal, render), image);
});
