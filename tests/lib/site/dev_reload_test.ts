import assert from "node:assert/strict";

import { DEV_RELOAD_PATH } from "@/lib/presentation/page_paths.ts";
import { devReload } from "@/lib/site/site.ts";

/** The first event of a stream, which then stays open. */
async function firstEvent(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const event = await reader?.read();
  await reader?.cancel();
  return event?.value ?? "";
}

Deno.test("dev reload: one process says one name, and the next another", async () => {
  const answer = devReload();
  const first = await firstEvent(answer());
  assert.match(first, /^retry: 100\ndata: [0-9a-f-]{36}\n\n$/);
  assert.equal(await firstEvent(answer()), first);
  assert.notEqual(await firstEvent(devReload()()), first);
  assert.equal(answer().headers.get("Content-Type"), "text/event-stream");
});

Deno.test("dev reload: a page outlives the refusals of a start and loads itself again for another process only", async () => {
  const streams: FakeStream[] = [];
  let opened = Promise.withResolvers<void>();
  let reloads = 0;
  class FakeStream {
    static readonly CLOSED = 2;
    readyState = 1;
    onmessage = (_event: { data: string }) => {};
    onerror = () => {};
    constructor(readonly url: string) {
      streams.push(this);
      opened.resolve();
    }
    fail(readyState: number) {
      this.readyState = readyState;
      this.onerror();
    }
  }
  const before = ["EventSource", "location"].map((name) =>
    [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const
  );
  Object.defineProperty(globalThis, "EventSource", { configurable: true, value: FakeStream });
  Object.defineProperty(globalThis, "location", { configurable: true, value: { reload: () => reloads++ } });
  try {
    await import("@/lib/client/dev_reload_client.ts");
    streams[0].onmessage({ data: "one" });
    streams[0].fail(0);
    assert.equal(streams.length, 1, "a stream that is tried again by the browser needs no other");
    for (const place of [0, 1]) {
      opened = Promise.withResolvers();
      streams[place].fail(FakeStream.CLOSED);
      await opened.promise;
    }
    streams[2].onmessage({ data: "one" });
    assert.equal(reloads, 0);
    streams[2].onmessage({ data: "two" });
    assert.equal(reloads, 1);
    assert.deepEqual(new Set(streams.map(({ url }) => url)), new Set([DEV_RELOAD_PATH]));
  } finally {
    for (const [name, property] of before) if (property) Object.defineProperty(globalThis, name, property);
  }
});
