import assert from "node:assert/strict";
import { DrawingPool, TooManyImages } from "@/embedded/archive/drawing_pool.ts";
import type { RenderTask } from "@/embedded/archive/page_renderer.ts";
import type { Thread } from "@/embedded/threads.ts";

const { signal } = new AbortController();
const client = { address: "127.0.0.1", connection: "1" };

function task(page: number): RenderTask {
  const region = { x: 0, y: 0, width: 8, height: 8 };
  return { seed: 1, volume: "V", page, region, width: page, height: 8, rotation: 0, quality: "color", format: "png" };
}

/** Threads that render nothing until they are released. */
class HeldThreads {
  readonly tasks: RenderTask[] = [];
  readonly ports: MessagePort[] = [];
  readonly faults: ((message: string) => void)[] = [];
  ended = 0;
  #arrived = Promise.withResolvers<void>();

  start = (onFault: (message: string) => void): Thread => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = ({ data }) => {
      this.tasks.push(data);
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers();
    };
    this.ports.push(port2);
    this.faults.push(onFault);
    return {
      port: port1,
      terminate: () => {
        this.ended++;
        port1.close();
        port2.close();
      },
    };
  };

  async until(count: number): Promise<void> {
    while (this.tasks.length < count) await this.#arrived.promise;
  }
}

Deno.test("drawing pool: one task at a time for each thread, all of a page in one thread", async () => {
  const threads = new HeldThreads();
  const pool = new DrawingPool(threads.start);
  const images = [1, 1, 2, 3].map((page) => pool.render(task(page), client, signal));
  await threads.until(2);
  assert.equal(threads.ports.length, 2);
  assert.equal(pool.waiting, 2);
  assert.deepEqual(threads.tasks.map(({ page }) => page), [1, 2]);
  threads.ports[0].postMessage({ image: Uint8Array.of(1) });
  assert.deepEqual(await images[0], Uint8Array.of(1));
  threads.ports[0].postMessage({ failed: "no paper" });
  await assert.rejects(images[1], /no paper/);
  await threads.until(4);
  assert.deepEqual(threads.tasks.map(({ page }) => page), [1, 2, 1, 3]);
  pool.close();
  await assert.rejects(images[2], /closing/);
  await assert.rejects(images[3], /closing/);
  assert.equal(threads.ended, 2);
});

Deno.test("drawing pool: a task whose requests have ended frees its place in the queue", async () => {
  const threads = new HeldThreads();
  const pool = new DrawingPool(threads.start, 2);
  const cancel = new AbortController();
  const first = pool.render(task(1), client, signal);
  const dropped = pool.render(task(3), client, cancel.signal);
  const waiting = pool.render(task(5), client, signal);
  await assert.rejects(pool.render(task(7), client, signal), TooManyImages);
  cancel.abort();
  await assert.rejects(dropped, /no request/);
  const accepted = pool.render(task(7), client, signal);
  await threads.until(1);
  threads.ports[0].postMessage({ image: Uint8Array.of(1) });
  await first;
  await threads.until(2);
  assert.deepEqual(threads.tasks.map(({ page }) => page), [1, 5]);
  pool.close();
  await Promise.all([waiting, accepted].map((image) => assert.rejects(image, /closing/)));
});

Deno.test("drawing pool: a client that fills the queue gives way to another one, which does not wait for all of it", async () => {
  const threads = new HeldThreads();
  const pool = new DrawingPool(threads.start, 4);
  const other = { address: "192.0.2.7", connection: "1" };
  const flood = [1, 3, 5, 7, 9].map((page) => pool.render(task(page), client, signal));
  const image = pool.render(task(11), other, signal);
  await assert.rejects(flood[4], TooManyImages);
  assert.equal(pool.waiting, 4);
  for (let done = 1; done <= 2; done++) {
    await threads.until(done);
    threads.ports[0].postMessage({ image: Uint8Array.of(done) });
  }
  await threads.until(3);
  assert.deepEqual(threads.tasks.map(({ page }) => page), [1, 3, 11]);
  threads.ports[0].postMessage({ image: Uint8Array.of(3) });
  assert.deepEqual(await image, Uint8Array.of(3));
  pool.close();
  await Promise.all(flood.slice(2, 4).map((one) => assert.rejects(one, /closing/)));
});

Deno.test("drawing pool: a thread that fails takes its task with it, and the next one gets a new thread", async () => {
  const threads = new HeldThreads();
  const pool = new DrawingPool(threads.start);
  const first = pool.render(task(1), client, signal);
  const second = pool.render(task(3), client, signal);
  await threads.until(1);
  threads.faults[0]("out of memory");
  await assert.rejects(first, /out of memory/);
  await threads.until(2);
  threads.ports[1].postMessage({ image: Uint8Array.of(2) });
  assert.deepEqual(await second, Uint8Array.of(2));
  pool.close();
});
