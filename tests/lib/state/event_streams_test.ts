import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import { EventPublisher, MAX_WAITING_EVENTS, type RedisCommands } from "@/lib/state/event_streams.ts";
import { SealedEvents } from "@/lib/state/sealed_events.ts";

const KEY = createSecretKey(randomBytes(32));
const STREAM = "stackroom:events";

/** A publisher over a server that fails as long as it `isDown`; `retry` ends the publisher's wait. */
function published() {
  const reader = new SealedEvents(STREAM, () => [KEY]);
  const state = {
    isDown: false,
    hasNoKey: false,
    losesReply: false,
    entries: [] as string[],
    received: [] as unknown[],
  };
  const redis: RedisCommands = {
    async command(name, ...args) {
      await Promise.resolve();
      if (state.isDown) throw new Error("down");
      if (name !== "XADD") return null;
      const entry = String(args.at(-1));
      state.entries.push(entry);
      state.received.push(...reader.open(entry));
      if (state.losesReply) throw new Error("no reply");
      return null;
    },
  };
  const keys = () => {
    if (state.hasNoKey) throw new Error("no key");
    return [KEY];
  };
  let waiting = Promise.withResolvers<void>();
  const waits: number[] = [];
  const publisher = new EventPublisher(redis, STREAM, new SealedEvents(STREAM, keys), (ms, signal) => {
    waits.push(ms);
    waiting = Promise.withResolvers();
    signal?.addEventListener("abort", () => waiting.resolve(), { once: true });
    return waiting.promise;
  });
  return { state, publisher, waits, retry: () => waiting.resolve() };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("event publisher: events arrive in their order, those of one moment together", async () => {
  const { state, publisher } = published();
  for (let n = 0; n < 80; n++) publisher.publish(n);
  await publisher.close();
  assert.deepEqual(state.received, Array.from({ length: 80 }, (_, n) => n));
  assert.equal(state.entries.length, 3);
  publisher.publish("late");
  await settle();
  assert.equal(state.entries.length, 3, "a closed one sends nothing");
});

Deno.test("event publisher: events wait while the server is away, the newest of them only", async () => {
  const { state, publisher, waits, retry } = published();
  state.isDown = true;
  publisher.publish("first");
  await settle();
  for (let n = 0; n < MAX_WAITING_EVENTS + 5; n++) publisher.publish(n);
  retry();
  await settle();
  assert.deepEqual([waits.length, state.received.length], [2, 0]);
  state.isDown = false;
  retry();
  await settle();
  await publisher.close();
  // The first one was on its way already.
  assert.deepEqual(state.received.slice(0, 3), ["first", 5, 6]);
  assert.equal(state.received.length, MAX_WAITING_EVENTS + 1);
});

Deno.test("event publisher: an entry whose reply was lost is sent again, and applied once", async () => {
  const { state, publisher, retry } = published();
  state.losesReply = true;
  publisher.publish("a");
  await settle();
  state.losesReply = false;
  publisher.publish("b");
  retry();
  await settle();
  await publisher.close();
  assert.deepEqual(state.received, ["a", "b"]);
  assert.equal(state.entries.length, 3);
  assert.equal(state.entries[0], state.entries[1]);
});

Deno.test("event publisher: its end does not wait for a server that is away", async () => {
  const { state, publisher } = published();
  state.isDown = true;
  publisher.publish("a");
  await settle();
  await publisher.close();
  assert.deepEqual(state.received, []);
});

Deno.test("event publisher: events wait while the key cannot be read", async () => {
  const { state, publisher, retry } = published();
  state.hasNoKey = true;
  publisher.publish("first");
  await settle();
  publisher.publish("second");
  state.hasNoKey = false;
  retry();
  await publisher.close();
  assert.deepEqual(state.received, ["first", "second"]);
});
