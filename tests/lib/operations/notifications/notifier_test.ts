import assert from "node:assert/strict";
import type { LogEntry, RequestLog } from "@/lib/http/app.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { type NotificationEvent, notificationEvent } from "@/lib/operations/notifications/event.ts";
import {
  type Channel,
  LEASE_MS,
  MAX_WAITING,
  NotificationQueue,
  Notifier,
  type Outcome,
} from "@/lib/operations/notifications/notifier.ts";
import { parseWebhookSecrets, webhook } from "@/lib/operations/notifications/webhook.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import { freePort } from "@/tests/free_port.ts";
import { until } from "@/tests/until.ts";
import { WEBHOOK_SECRET, WebhookReceiver } from "./webhook_receiver.ts";

const event = (name: string) =>
  notificationEvent({
    type: "campaign.ended",
    identity: [name],
    at: 0,
    subject: `Campaign ${name}`,
    summary: name,
    data: { name },
  });

const memory = () => new NotificationQueue(new SqliteTaskStore(":memory:", Date.now));

function channel(url: string, timeoutMs = 20_000): Channel {
  const client = upstreamClient({ verifyTls: true, timeoutMs });
  const late: typeof client = { send: (request) => client.send({ ...request, timeoutMs }) };
  return webhook({ url, secrets: parseWebhookSecrets(WEBHOOK_SECRET) ?? [], client: late, now: Date.now });
}

/** A notifier, what it logs, and its end. */
class Scene implements AsyncDisposable {
  readonly lines: LogEntry[] = [];
  readonly notifier: Notifier;

  constructor(channels: readonly Channel[], options: Partial<ConstructorParameters<typeof Notifier>[0]> = {}) {
    const log: RequestLog = { write: (entry) => this.lines.push(entry), flush() {} };
    const retrySeconds = [0, 0, 0];
    this.notifier = new Notifier({
      channels,
      types: ["campaign.ended"],
      queue: memory(),
      memory: memory(),
      log,
      pollMs: 20,
      retrySeconds,
      ...options,
    });
    this.notifier.start();
  }

  get figures() {
    return this.notifier.figures.get("webhook");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.notifier.stop();
  }
}

Deno.test("notifier: an event is sent once, signed, and to each receiver, and one of another type is not", async () => {
  await using one = new WebhookReceiver();
  await using two = new WebhookReceiver();
  await using scene = new Scene([channel(one.url), channel(two.url)]);
  await scene.notifier.notify({ ...event("x"), type: "disk.full" });
  await scene.notifier.notify(event("a"));
  await scene.notifier.notify(event("a"));
  await scene.notifier.notify(event("b"));
  await until("four deliveries", () => scene.figures?.sent === 4 || null);
  for (const receiver of [one, two]) {
    assert.deepEqual(receiver.received.map(({ body }) => body.data.name), ["a", "b"]);
    assert.ok(receiver.received.every(({ isGenuine, id, body }) => isGenuine && id === body.id));
  }
  assert.deepEqual(scene.lines, []);
});

Deno.test("notifier: a receiver that fails, is busy and then takes it gets the same id each time", async () => {
  const statuses = [500, 429, 200];
  await using receiver = new WebhookReceiver((n) => new Response("x".repeat(100_000), { status: statuses[n] }));
  await using scene = new Scene([channel(receiver.url)]);
  await scene.notifier.notify(event("a"));
  await until("it is sent", () => scene.figures?.sent === 1 || null);
  assert.deepEqual(scene.figures, { sent: 1, failed: 2, dropped: 0 });
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1);
  assert.equal(receiver.received.length, 3);
});

Deno.test("notifier: a receiver that has moved, is gone or rejects it is not tried again, and nowhere else", async () => {
  await using elsewhere = new WebhookReceiver();
  for (const status of [301, 307, 410, 404, 401]) {
    const headers = { location: elsewhere.url };
    await using receiver = new WebhookReceiver(() => new Response(null, { status, headers }));
    await using scene = new Scene([channel(`${receiver.url}?token=top-secret`)]);
    await scene.notifier.notify(event("a"));
    await until("it is dropped", () => scene.figures?.dropped === 1 || null);
    assert.deepEqual(scene.figures, { sent: 0, failed: 1, dropped: 1 });
    assert.equal(receiver.received.length, 1);
    assert.match(String(scene.lines[0].message), new RegExp(`dropped: webhook at 127.0.0.1:\\d+, .* ${status}`));
    assert.doesNotMatch(JSON.stringify(scene.lines), /top-secret|whsec/);
  }
  assert.deepEqual(elsewhere.received, []);
});

Deno.test("notifier: a receiver that hangs, one that never reads and one that is away are given up after the last delay", async () => {
  const released = Promise.withResolvers<Response>();
  await using hanging = new WebhookReceiver(() => released.promise);
  const deaf = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [deafUrl, closedUrl] = [deaf.addr.port, freePort()].map((port) => `http://127.0.0.1:${port}/`);
  // A refused connection fails at once. With 100 ms, a stall of the machine would be reported as "did not respond in time".
  const channels = [channel(hanging.url, 100), channel(deafUrl, 100), channel(closedUrl)];
  try {
    await using scene = new Scene(channels, { retrySeconds: [0] });
    await scene.notifier.notify(event("a"));
    await until("all are dropped", () => scene.figures?.dropped === 3 || null);
    assert.deepEqual(scene.figures, { sent: 0, failed: 6, dropped: 3 });
    const messages = scene.lines.map(({ message }) => String(message)).join("\n");
    assert.match(messages, /dropped: .*did not respond in time/);
    assert.match(messages, /dropped: .*cannot be reached/);
  } finally {
    released.resolve(new Response());
    deaf.close();
  }
});

Deno.test("notifier: Retry-After is kept to, as seconds and as a date, and not for ever", async () => {
  for (const value of ["3600", new Date(Date.now() + 3_600_000).toUTCString(), "99999999", "soon", "-1"]) {
    await using receiver = new WebhookReceiver(() =>
      new Response(null, { status: 503, headers: { "retry-after": value } })
    );
    const outcome = await channel(receiver.url).send([event("a")], new AbortController().signal) as Outcome & {
      afterMs: number;
    };
    const expected = /^(?:soon|-1)$/.test(value) ? 0 : value === "99999999" ? 86_400_000 : 3_600_000;
    assert.ok(Math.abs(outcome.afterMs - expected) < 100_000, `${value}: ${outcome.afterMs}`);
  }
});

/** A channel whose outcomes a test decides. */
class FakeChannel implements Channel {
  readonly name = "fake";
  readonly kind = "webhook";
  readonly shown = "a fake";
  readonly windowMs = 0;
  readonly batch = 1;
  readonly sent: NotificationEvent[][] = [];

  constructor(readonly outcome: (signal: AbortSignal) => Promise<Outcome>) {}

  send(events: readonly NotificationEvent[], signal: AbortSignal): Promise<Outcome> {
    this.sent.push([...events]);
    return this.outcome(signal);
  }
}

Deno.test("notifier: delays grow by the table, with jitter, and a longer Retry-After wins", async () => {
  const delays: number[] = [];
  const queue = memory();
  queue.putOff = (delivery, delayMs) => {
    delays.push(delayMs);
    return NotificationQueue.prototype.putOff.call(queue, delivery, 0);
  };
  const failing = new FakeChannel(() =>
    Promise.resolve({ result: "failed", reason: "it is busy", afterMs: delays.length === 1 ? 100_000 : 0 })
  );
  await using scene = new Scene([failing], { queue, retrySeconds: [5, 30, 120], random: () => 0.5 });
  await scene.notifier.notify(event("a"));
  await until("it is dropped", () => scene.figures?.dropped === 1 || null);
  assert.deepEqual(delays, [5500, 100_000, 132_000]);
});

Deno.test("notifier: a queue that cannot be written gives way to memory, and the event is sent all the same", async () => {
  await using receiver = new WebhookReceiver();
  const queue = memory();
  queue.add = () => Promise.reject(new Error("database or disk is full"));
  queue.write = () => Promise.reject(new Error("database or disk is full"));
  await using scene = new Scene([channel(receiver.url)], { queue });
  await scene.notifier.notify(event("a"));
  await scene.notifier.remember("note", "text");
  await until("it is sent", () => scene.figures?.sent === 1 || null);
  assert.equal(receiver.received.length, 1);
  assert.match(String(scene.lines[0].message), /queue of notifications cannot be written \(database or disk is full\)/);
  assert.equal(scene.lines.length, 1, "a trouble that lasts is reported once");
});

Deno.test("notifier: what was sent and cannot be removed from the queue is not sent again", async () => {
  let now = Date.now();
  const queue = new NotificationQueue(new SqliteTaskStore(":memory:", () => now));
  let claims = 0;
  let isFull = true;
  queue.remove = (key) => {
    if (isFull) return Promise.reject(new Error("disk is full"));
    return NotificationQueue.prototype.remove.call(queue, key);
  };
  queue.claim = async (channel, limit) => {
    const found = await NotificationQueue.prototype.claim.call(queue, channel, limit);
    now += LEASE_MS;
    claims += found.length;
    return found;
  };
  const taking = new FakeChannel(() => Promise.resolve({ result: "sent" }));
  await using scene = new Scene([taking], { queue });
  await scene.notifier.notify(event("a"));
  await until("it is sent", () => scene.figures?.sent === 1 || null);
  isFull = false;
  await scene.notifier.notify(event("b"));
  await until("both are sent", () => scene.figures?.sent === 2 || null);
  assert.ok(claims >= 2);
  assert.deepEqual(taking.sent.map(([{ subject }]) => subject), ["Campaign a", "Campaign b"]);
});

Deno.test("notifier: a full queue drops what is new, and says so", async () => {
  const queue = memory();
  const busy = new FakeChannel(() => Promise.resolve({ result: "failed", reason: "it is busy" }));
  await using scene = new Scene([busy], { queue, retrySeconds: [3600] });
  for (let n = 0; n <= MAX_WAITING; n++) await scene.notifier.notify(event(`n${n}`));
  assert.equal(scene.figures?.dropped, 1);
  assert.match(scene.lines.map(({ message }) => message).join("\n"), /queue of notifications is full/);
});

Deno.test("notifier: a stop cuts an attempt that hangs after the time it is given, 2 s at most, and the next process makes it again", async () => {
  for (const [given, later] of [[1, 1000], [600_000, 30_000]]) {
    const queue = memory();
    queue.close = () => Promise.resolve();
    const begun = Promise.withResolvers<void>();
    const order: string[] = [];
    const hanging = new FakeChannel((signal) => {
      begun.resolve();
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          order.push("cut");
          resolve({ result: "failed", reason: "the attempt was ended" });
        })
      );
    });
    const scene = new Scene([hanging], { queue });
    await scene.notifier.notify(event("a"));
    await begun.promise;
    const stopped = scene.notifier.stop(given);
    // A timer that is due later, so that a stall cannot exchange the two.
    const timer = setTimeout(() => order.push("later"), later);
    await stopped;
    clearTimeout(timer);
    assert.equal(order[0], "cut");
    const [delivery] = await queue.claim("fake", 1);
    assert.deepEqual([delivery.event.subject, delivery.attempts], ["Campaign a", 0]);
    NotificationQueue.prototype.close.call(queue);
  }
});
