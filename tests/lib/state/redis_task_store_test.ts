import assert from "node:assert/strict";
import { HttpError } from "@/lib/http/errors.ts";
import { RedisClient, type RedisReply } from "@/lib/state/redis_client.ts";
import { RedisTaskStore } from "@/lib/state/redis_task_store.ts";
import { deploymentOf } from "@/lib/tasks/task_keys.ts";
import { LEASE_MS, SHORT_LIFETIME, type TaskEnd } from "@/lib/tasks/task.ts";
import { assertNoCredentials, bytesBelow, latin1, storeCallers } from "@/tests/lib/tasks/stored_credentials.ts";
import { newTask, type StoreUnderTest, testTaskStore } from "./task_store_contract.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";

const { endedTtlMs: ENDED_TTL_MS, maxEndedPerOwner: MAX_ENDED_PER_OWNER, maxRunMs: MAX_RUN_MS } = SHORT_LIFETIME;

const DEPLOYMENT = "d";
const PREFIX = `stackroom:{tasks-2-${DEPLOYMENT}}:`;

interface RedisStoreUnderTest extends StoreUnderTest {
  readonly server: RedisServer;
  /** Reads what is stored behind the store's back. */
  readonly client: RedisClient;
  /** The keys that have not expired. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

/** A store on a server of its own, whose clock a test moves. */
async function open(): Promise<RedisStoreUnderTest> {
  const server = await RedisServer.start();
  const warn = () => {};
  const client = new RedisClient({ url: server.url, warn });
  let clockOffset = 0;
  const options = { deployment: DEPLOYMENT, warn, clockOffset: () => clockOffset };
  async function keys(): Promise<string[]> {
    const reply = await client.command("KEYS", "*") as readonly RedisReply[];
    return reply.map((key) => new TextDecoder().decode(key as Uint8Array)).sort();
  }
  return {
    store: new RedisTaskStore(new RedisClient({ url: server.url, warn }), options),
    server,
    client,
    keys,
    /** Moves the clock of the store, and the expiry of its keys as far. */
    async advance(ms) {
      clockOffset += ms;
      for (const key of await keys()) {
        const left = await client.command("PTTL", key) as number;
        if (left >= 0) await client.command("PEXPIRE", key, left - ms);
      }
    },
    async close() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

testTaskStore("tasks in Redis", open, { ignore: REDIS_PROGRAM === null });

const BOUNDS = { maxPerOwner: 10, maxPerTenant: 100, max: 100 };
const END: TaskEnd = { state: "ready", error: null, progress: "{}" };

function test(name: string, run: (under: RedisStoreUnderTest) => Promise<void>): void {
  Deno.test(`tasks in Redis: ${name}`, { ignore: REDIS_PROGRAM === null }, async () => {
    const under = await open();
    try {
      await run(under);
    } finally {
      await under.store.close();
      await under.close();
    }
  });
}

const isStatus = (status: number, words: RegExp) => (error: unknown) =>
  error instanceof HttpError && error.status === status && words.test(error.message);

test("of two processes that claim at the same time each gets other tasks", async ({ store, server, advance }) => {
  const tasks = Array.from({ length: 10 }, () => newTask());
  for (const task of tasks) await store.create(task, "gone", BOUNDS);
  await advance(LEASE_MS);
  const other = new RedisTaskStore(new RedisClient({ url: server.url, warn() {} }), {
    deployment: DEPLOYMENT,
    warn() {},
    clockOffset: () => LEASE_MS,
  });
  const claims = Array.from(
    { length: 10 },
    (_, round) => round % 2 === 0 ? store.claim("b", 2) : other.claim("c", 2),
  );
  const ids = (await Promise.all(claims)).flat().map(({ id }) => id);
  assert.deepEqual(ids.sort(), tasks.map(({ id }) => id).sort());
  await other.close();
});

test("processes with another secret neither see nor count, change or delete its tasks", async (under) => {
  const { store, server, advance, keys } = under;
  const bounds = { maxPerOwner: 1, maxPerTenant: 1, max: 1 };
  const of = (secret: string) => deploymentOf(new TextEncoder().encode(secret));
  assert.match(of("one"), /^[0-9a-f]{16}$/);
  assert.notEqual(of("one"), of("other"));
  const client = new RedisClient({ url: server.url, warn() {} });
  let clockOffset = 0;
  const other = new RedisTaskStore(client, { deployment: of("other"), warn() {}, clockOffset: () => clockOffset });
  const task = newTask();
  await store.create(task, "a", bounds, new Map([["0", new Uint8Array([1])]]));
  const before = await keys();
  clockOffset = LEASE_MS;
  await advance(LEASE_MS);
  assert.deepEqual(await other.claim("b", 9), []);
  assert.equal(await other.get(task.id), null);
  assert.deepEqual(await other.readBlobs(task.id, ["0"]), [null]);
  assert.equal(await other.save(task.id, "a", "{}"), "lost");
  assert.equal(await other.end(task.id, "a", END), "lost");
  await other.cancel(task.id);
  await other.release("a");
  await other.sweep();
  assert.equal(await other.create(newTask(), "a", bounds), "created", "each has bounds of its own");
  assert.deepEqual((await keys()).filter((key) => key.startsWith(PREFIX)), before);
  const [claimed] = await store.claim("a", 9);
  assert.deepEqual([claimed.id, claimed.isCanceling, claimed.progress], [task.id, false, task.progress]);
  await other.close();
});

/** Ways in which the record of a task can be damaged, by what is done to its keys. */
const DAMAGES: Record<string, (client: RedisClient, id: string) => Promise<unknown>> = {
  "is no hash": (client, id) => client.command("SET", `${PREFIX}task:${id}`, "x"),
  "has an unknown kind": (client, id) => client.command("HSET", `${PREFIX}task:${id}`, "kind", "format c:"),
  "has an unknown state": (client, id) => client.command("HSET", `${PREFIX}task:${id}`, "state", "flying"),
  "has no owner": (client, id) => client.command("HDEL", `${PREFIX}task:${id}`, "owner"),
  "was created at no time": (client, id) => client.command("HSET", `${PREFIX}task:${id}`, "created", "-1e999"),
  "expires at no time": (client, id) => client.command("HSET", `${PREFIX}task:${id}`, "expires", "never", "kind", ""),
};

for (const [damage, apply] of Object.entries(DAMAGES)) {
  test(`a record that ${damage} is an error with a sentence, and holds up no other task`, async (under) => {
    const { store, client, advance } = under;
    const [damaged, sound] = [newTask(), newTask()];
    for (const task of [damaged, sound]) await store.create(task, "a", BOUNDS);
    await apply(client, damaged.id);
    await assert.rejects(store.get(damaged.id), isStatus(500, /damaged/));
    await advance(LEASE_MS);
    assert.deepEqual((await store.claim("b", 10)).map(({ id }) => id), [sound.id]);
    assert.equal(await store.save(damaged.id, "b", "{}"), "lost");
    await store.cancel(damaged.id);
    assert.equal(await store.end(sound.id, "b", END), "stored");
    await advance(LEASE_MS);
    assert.deepEqual(await store.claim("b", 10), []);
    await advance(MAX_RUN_MS);
    await store.sweep();
  });
}

test("blobs that are none are an error with a sentence", async ({ store, client }) => {
  const task = newTask();
  await store.create(task, "a", BOUNDS);
  await client.command("SET", `${PREFIX}blobs:${task.id}`, "x");
  await assert.rejects(store.readBlobs(task.id, ["0"]), isStatus(500, /damaged/));
  await assert.rejects(store.writeBlobs(task.id, new Map([["0", new Uint8Array()]])), isStatus(500, /damaged/));
});

test("every key expires by itself, whatever became of its task and though nothing sweeps", async (under) => {
  const { store, client, advance, keys } = under;
  const blobs = new Map([["0", new Uint8Array([1])]]);
  const [running, ended, archive, failed] = Array.from({ length: 4 }, () => newTask());
  for (const task of [running, ended, archive, failed]) {
    await store.create(task, "a", BOUNDS, blobs);
    await advance(1000);
  }
  await store.end(ended.id, "a", END);
  await store.end(archive.id, "a", { ...END, keepsCaller: true });
  await store.end(failed.id, "a", { ...END, state: "failed", error: "gone" });
  await store.writeBlobs(running.id, new Map([["1", new Uint8Array([1])]]));
  await store.writeBlobs(ended.id, new Map([["1", new Uint8Array([1])]]));
  await store.release("a");
  await store.claim("b", 1);
  for (const key of await keys()) {
    const left = await client.command("PTTL", key) as number;
    assert.ok(left > 0 && left <= MAX_RUN_MS + ENDED_TTL_MS, `${key}: ${left}`);
  }
  await advance(ENDED_TTL_MS);
  const left = await keys();
  for (const { id } of [ended, archive, failed]) assert.deepEqual(left.filter((key) => key.includes(id)), []);
  assert.ok(left.includes(`${PREFIX}task:${running.id}`));
  await advance(MAX_RUN_MS - ENDED_TTL_MS);
  assert.deepEqual((await keys()).filter((key) => key.startsWith(`${PREFIX}caller:`)), []);
  await advance(ENDED_TTL_MS);
  assert.deepEqual(await keys(), []);
});

test("the number of keys is bounded, however many tasks are started", async ({ store, keys }) => {
  const counts: number[] = [];
  for (let round = 0; round < 2; round++) {
    for (let count = 0; count < MAX_ENDED_PER_OWNER + 5; count++) {
      const task = newTask();
      await store.create(task, "a", BOUNDS);
      await store.end(task.id, "a", END);
    }
    counts.push((await keys()).length);
  }
  assert.deepEqual(counts, [MAX_ENDED_PER_OWNER + 1, MAX_ENDED_PER_OWNER + 1]);
});

test("tasks that the server has evicted do not count for the bounds", async ({ store, client }) => {
  const bounds = { maxPerOwner: 1, maxPerTenant: 1, max: 1 };
  const task = newTask();
  await store.create(task, "a", bounds);
  assert.equal(await store.create(newTask(), "a", bounds), "owner");
  await client.command("DEL", `${PREFIX}task:${task.id}`);
  assert.equal(await store.create(newTask(), "a", bounds), "created");
});

test("nothing of a caller's credentials can be read in the server's memory or files", async (under) => {
  const { store, server, client, keys } = under;
  await storeCallers(store);
  let shown = "";
  for (const key of await keys()) {
    const dumped = await client.command("DUMP", key) as Uint8Array;
    shown += key + latin1(dumped);
    const type = latin1(await client.command("TYPE", key) as Uint8Array);
    const read = { hash: ["HGETALL"], string: ["GET"], zset: ["ZRANGE", "0", "-1"] }[type];
    assert.ok(read, type);
    const [name, ...rest] = read;
    shown += [await client.command(name, key, ...rest)].flat().map((value) => latin1(value as Uint8Array)).join();
  }
  await client.command("SAVE");
  await server.kill();
  shown += await bytesBelow(server.folder);
  assert.ok(shown.includes("letters"), "what is not secret can be found");
  assertNoCredentials(shown);
});
