import assert from "node:assert/strict";
import { notificationEvent } from "@/lib/operations/notifications/event.ts";
import { MAX_WAITING, NotificationQueue } from "@/lib/operations/notifications/notifier.ts";
import { RedisClient } from "@/lib/state/redis_client.ts";
import { RedisTaskStore } from "@/lib/state/redis_task_store.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";

const event = (name: string) =>
  notificationEvent({
    type: "campaign.ended",
    identity: [name],
    at: 0,
    subject: name,
    summary: name,
    data: { name },
  });
const HOUR_MS = 3_600_000;

/** What holds for every queue. */
async function testQueue(queue: NotificationQueue): Promise<void> {
  assert.equal(await queue.add(event("one"), "a", 0), "added");
  assert.equal(await queue.add(event("one"), "b", HOUR_MS), "added");
  assert.equal(await queue.add(event("one"), "a", 0), "known");

  const [delivery, ...others] = await queue.claim("a", 10);
  assert.deepEqual([delivery.event, delivery.attempts, others], [event("one"), 0, []]);
  assert.deepEqual(await queue.claim("a", 10), [], "it is claimed");
  assert.deepEqual(await queue.claim("b", 10), [], "it is not due");

  await queue.putOff(delivery, 0);
  const [again] = await queue.claim("a", 10);
  assert.equal(again.attempts, 1);
  await queue.putOff(again, HOUR_MS);
  assert.deepEqual(await queue.claim("a", 10), []);
  await queue.add(event("two"), "a", 0);
  const [two] = await queue.claim("a", 10);
  await queue.release(two);
  assert.equal((await queue.claim("a", 10))[0].attempts, 0, "a release counts no attempt");
  await queue.remove(two.key);
  await queue.release(two);
  assert.deepEqual(await queue.claim("a", 10), []);
  assert.equal(await queue.add(event("two"), "a", 0), "known", "it was sent");

  assert.equal(await queue.read("note"), null);
  await queue.write("note", "first");
  await queue.write("note", "sécond");
  assert.equal(await queue.read("note"), "sécond");

  // One waits for each of a and b.
  for (let n = 2; n < MAX_WAITING; n++) await queue.add(event(`n${n}`), "c", 0);
  assert.equal(await queue.add(event("surplus"), "c", 0), "full");
  const [removed] = await queue.claim("c", 1);
  await queue.remove(removed.key);
  assert.equal(await queue.add(event("surplus"), "c", 0), "added", "it was not known");
}

Deno.test("notification queue: memory holds deliveries until they are removed, and each event once", async () => {
  const queue = new NotificationQueue(new SqliteTaskStore(":memory:", Date.now));
  await testQueue(queue);
  await queue.close();
});

Deno.test("notification queue: so does Redis, for all processes", { ignore: REDIS_PROGRAM === null }, async () => {
  await using server = await RedisServer.start();
  const client = new RedisClient({ url: server.url, warn: () => {} });
  const queue = new NotificationQueue(new RedisTaskStore(client, { deployment: "one", warn: () => {} }));
  await testQueue(queue);
  await queue.add(event("damaged"), "d", 0);
  for (const name of await client.command("KEYS", "*:task:*") as Uint8Array[]) {
    await client.command("HSET", name, "progress", '{"event":{"id":"evt_\r\n"}}');
  }
  assert.deepEqual(await queue.claim("d", 1), [], "what is damaged is removed");
  await queue.close();
});
