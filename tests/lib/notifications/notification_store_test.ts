import assert from "node:assert/strict";
import { notificationEvent } from "@/lib/notifications/event.ts";
import { LEASE_MS, MAX_WAITING, type NotificationStore } from "@/lib/notifications/notification_store.ts";
import { openNotificationFile } from "@/lib/notifications/open_notification_file.ts";
import { RedisNotificationStore } from "@/lib/notifications/redis_notification_store.ts";
import { SqliteNotificationStore } from "@/lib/notifications/sqlite_notification_store.ts";
import { RedisClient } from "@/lib/tasks/redis/redis_client.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { until } from "@/tests/until.ts";

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
const claim = (channel: string, aheadMs = 0) => ({ channel, limit: 10, aheadMs });

/** What holds for every queue. */
async function testStore(store: NotificationStore): Promise<void> {
  const destinations = [{ channel: "a", delayMs: 0 }, { channel: "b", delayMs: HOUR_MS }];
  assert.equal(await store.add(event("one"), destinations), "added");
  assert.equal(await store.add(event("one"), destinations), "known");

  const [delivery, ...others] = await store.claim(claim("a"));
  assert.deepEqual(delivery.event, event("one"));
  assert.equal(delivery.attempts, 0);
  assert.deepEqual(others, []);
  assert.deepEqual(await store.claim(claim("a")), [], "it is claimed");
  assert.deepEqual(await store.claim(claim("a", 60_000)), [], "a claim is not taken over early");
  assert.deepEqual(await store.claim(claim("b")), [], "it is not due");
  assert.deepEqual(await store.claim(claim("b", 2 * HOUR_MS)), [], "none is due, so none comes along");

  await store.putOff(delivery.key, 0);
  const [again] = await store.claim(claim("a"));
  assert.equal(again.attempts, 1);
  await store.putOff(delivery.key, HOUR_MS);
  assert.deepEqual(await store.claim(claim("a")), []);
  assert.equal(await store.add(event("two"), destinations), "added");
  const both = await store.claim(claim("a", 2 * HOUR_MS));
  assert.deepEqual(both.map(({ event }) => event.subject).sort(), ["one", "two"], "the other one came along");
  for (const { key } of both) await store.release(key);
  const released = await store.claim(claim("a"));
  assert.deepEqual(released.map(({ attempts }) => attempts).sort(), [0, 2], "a release counts no attempt");
  for (const { key } of both) await store.remove(key);
  await store.release(both[0].key);
  assert.deepEqual(await store.claim(claim("a")), []);
  assert.equal(await store.add(event("one"), destinations), "known", "it was sent");

  assert.equal(await store.read("note"), null);
  await store.write("note", "first");
  await store.write("note", "sécond");
  assert.equal(await store.read("note"), "sécond");

  // Two wait for b.
  for (let n = 2; n < MAX_WAITING; n++) await store.add(event(`n${n}`), [{ channel: "c", delayMs: 0 }]);
  assert.equal(await store.add(event("surplus"), [{ channel: "c", delayMs: 0 }]), "full");
  const [removed] = await store.claim(claim("c"));
  await store.remove(removed.key);
  assert.equal(await store.add(event("surplus"), [{ channel: "c", delayMs: 0 }]), "added", "it was not known");
}

Deno.test("notification store: memory holds deliveries until they are removed, and each event once", async () => {
  const store = new SqliteNotificationStore(":memory:", Date.now);
  await testStore(store);
  await store.close();
});

Deno.test({
  name: "notification store: so does Redis, for all processes",
  ignore: REDIS_PROGRAM === null,
  async fn() {
    await using server = await RedisServer.start();
    const open = (deployment: string) => {
      const redis = new RedisClient({ url: server.url, warn: () => {} });
      return new RedisNotificationStore({ redis, prefix: "stackroom:", deployment });
    };
    const store = open("one");
    await testStore(store);
    const [replica, other] = [open("one"), open("other")];
    assert.equal(await replica.add(event("one"), [{ channel: "a", delayMs: 0 }]), "known");
    assert.equal(await other.add(event("one"), [{ channel: "a", delayMs: 0 }]), "added");

    const client = new RedisClient({ url: server.url, warn: () => {} });
    const keys = await client.command("KEYS", "*") as Uint8Array[];
    for (const key of keys) assert.notEqual(await client.command("PTTL", key), -1, new TextDecoder().decode(key));
    const [{ key }] = await other.claim(claim("a"));
    await other.release(key);
    await client.command("HSET", "stackroom:{notifications-other}:events", key, '{"id":"evt_\r\n"}');
    assert.deepEqual(await other.claim(claim("a")), [], "what is damaged is removed");
    assert.equal(await client.command("ZCARD", "stackroom:{notifications-other}:queue:a"), 0);
    for (const one of [store, replica, other, client]) await one.close();
  },
});

Deno.test("notification store: a claim of a process that ended is due again, at once where the file is its own", async () => {
  const folder = await Deno.makeTempDir();
  let now = 1_000_000;
  const lines: string[] = [];
  const open = () => openNotificationFile(`${folder}/n.db`, () => now, (line) => lines.push(line));
  try {
    const first = open();
    await first.add(event("one"), [{ channel: "a", delayMs: 0 }]);
    assert.equal((await first.claim(claim("a"))).length, 1);
    now += LEASE_MS;
    assert.equal((await first.claim(claim("a"))).length, 1, "the lease is over");
    await first.close();
    const second = open();
    assert.equal((await second.claim(claim("a"))).length, 1);
    await second.close();
    assert.equal((await Deno.stat(`${folder}/n.db`)).mode! & 0o777, 0o600);
    assert.deepEqual(lines, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("notification store: a damaged file is set aside, and where there can be none memory serves", async () => {
  const folder = await Deno.makeTempDir();
  const lines: string[] = [];
  const open = (path: string) => openNotificationFile(path, Date.now, (line) => lines.push(line));
  try {
    await Deno.writeTextFile(`${folder}/n.db`, "no database at all, ".repeat(1000));
    const store = open(`${folder}/n.db`);
    assert.equal(await store.add(event("one"), [{ channel: "a", delayMs: 0 }]), "added");
    await store.close();
    assert.match(lines[0], /was damaged: it is .*n\.db\.damaged now/);
    const without = open(`${folder}/missing/n.db`);
    assert.equal(await without.add(event("one"), [{ channel: "a", delayMs: 0 }]), "added");
    await without.close();
    assert.match(lines[1], /cannot be used .*in memory until the next start/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("notification store: what was added is there after a kill", async () => {
  const folder = await Deno.makeTempDir();
  const code = `
    import { notificationEvent } from "@/lib/notifications/event.ts";
    import { openNotificationFile } from "@/lib/notifications/open_notification_file.ts";
    const store = openNotificationFile(Deno.args[0], Date.now, console.error);
    const fact = { type: "disk.low", identity: ["k"], at: 0, subject: "s", summary: "s", data: {} };
    await store.add(notificationEvent(fact), [{ channel: "a", delayMs: 0 }]);
    console.log("added");
    setInterval(() => {}, 1000);`;
  await Deno.writeTextFile(`${folder}/add.ts`, code);
  const root = new URL("../../../", import.meta.url);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config", "deno.json", `${folder}/add.ts`, `${folder}/n.db`],
    cwd: root,
    stdout: "piped",
  }).spawn();
  try {
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    assert.equal(new TextDecoder().decode(value), "added\n");
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    const store = openNotificationFile(`${folder}/n.db`, Date.now, console.error);
    const found = await until("the event", async () => (await store.claim(claim("a")))[0] ?? null);
    assert.equal(found.event.type, "disk.low");
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
