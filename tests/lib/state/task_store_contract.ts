import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { LEASE_MS, type NewTask, SHORT_LIFETIME, type TaskEnd, type TaskStore } from "@/lib/tasks/task.ts";

const {
  endedTtlMs: ENDED_TTL_MS,
  maxEndedPerOwner: MAX_ENDED_PER_OWNER,
  maxRunMs: MAX_RUN_MS,
  ranTooLong: RAN_TOO_LONG,
} = SHORT_LIFETIME;

/** A store of tasks under test. */
export interface StoreUnderTest {
  readonly store: TaskStore;
  /** Lets so many ms pass by the store's clock. */
  advance(ms: number): Promise<void>;
  /** Releases what is beside the store, after it was closed. */
  close?(): Promise<void>;
}

const BOUNDS = { maxPerOwner: 3, maxPerTenant: 4, max: 5 };
const END: TaskEnd = { state: "ready", error: null, progress: '{"files":2}' };

export function newTask(change: Partial<NewTask> = {}): NewTask {
  return {
    id: randomUUID(),
    kind: "count",
    owner: "alva",
    tenant: "archive",
    account: "alva",
    bucket: "letters",
    progress: '{"files":0}',
    sealedCaller: new Uint8Array([1, 2, 3]),
    ...change,
  };
}

/** A task on which process `a` works. */
async function created(store: TaskStore): Promise<NewTask> {
  const task = newTask();
  await store.create(task, "a", BOUNDS);
  return task;
}

/**
 * What each store of tasks does; `open` opens an empty one, which is closed after the test.
 *
 * @param ignore whether this machine cannot run the tests
 */
export function testTaskStore(name: string, open: () => Promise<StoreUnderTest>, { ignore = false } = {}): void {
  const test = (what: string, run: (under: StoreUnderTest) => Promise<void>) => {
    Deno.test(`${name}: ${what}`, { ignore }, async () => {
      const under = await open();
      try {
        await run(under);
      } finally {
        await under.store.close();
        await under.close?.();
      }
    });
  };

  test("a task of an id is created once, and stays as it is", async ({ store }) => {
    const task = newTask();
    assert.equal(await store.create(task, "a", BOUNDS), "created");
    assert.equal(await store.create({ ...task, progress: '{"files":9}' }, "b", BOUNDS), "exists");
    assert.equal((await store.get(task.id))?.progress, task.progress);
  });

  test("a note is replaced only by those who have seen it as it is", async ({ store }) => {
    assert.equal(await store.readNote("n"), null);
    assert.equal(await store.replaceNote("n", "x", "y"), false);
    assert.equal(await store.replaceNote("n", null, "mål"), true);
    assert.equal(await store.replaceNote("n", null, "other"), false);
    assert.equal(await store.readNote("n"), "mål");
    assert.equal(await store.replaceNote("n", "other", "third"), false);
    assert.equal(await store.replaceNote("n", "mål", ""), true);
    assert.equal(await store.readNote("n"), "");
    assert.equal(await store.readNote("m"), null);
  });

  test("a created task is read back whole", async ({ store }) => {
    const task = newTask({ bucket: "mål", progress: '{"prefix":"år/\\u0000"}' });
    assert.equal(await store.create(task, "a", BOUNDS), "created");
    const stored = await store.get(task.id);
    assert.ok(stored);
    const { createdAt, updatedAt, ...rest } = stored;
    assert.ok(createdAt > 0);
    assert.equal(updatedAt, createdAt);
    assert.deepEqual(rest, { ...task, state: "running", isCanceling: false, error: null, endedAt: null });
    assert.equal(await store.get(randomUUID()), null);
  });

  test("a new task is refused beyond the bound of its owner and beyond that of all", async ({ store }) => {
    for (let count = 0; count < 3; count++) assert.equal(await store.create(newTask(), "a", BOUNDS), "created");
    assert.equal(await store.create(newTask(), "a", BOUNDS), "owner");
    const ofOther = { tenant: null, account: null };
    for (const owner of ["bo", "eva"]) {
      assert.equal(await store.create(newTask({ owner, ...ofOther }), "a", BOUNDS), "created");
    }
    assert.equal(await store.create(newTask({ owner: "ida", ...ofOther }), "a", BOUNDS), "all");
  });

  test("a new task is refused beyond the bound of its tenant, others have theirs", async ({ store, advance }) => {
    const ofMany = Array.from({ length: 4 }, (_, n) => newTask({ owner: `o${n}`, account: `o${n}` }));
    for (const task of ofMany) assert.equal(await store.create(task, "a", BOUNDS), "created");
    const fifth = newTask({ owner: "o5" });
    assert.equal(await store.create(fifth, "a", BOUNDS), "tenant");
    assert.equal(await store.create(newTask({ owner: "o6", tenant: "research" }), "a", BOUNDS), "created");
    await store.end(ofMany[0].id, "a", END);
    assert.equal(await store.create(fifth, "a", BOUNDS), "created");
    await advance(MAX_RUN_MS + 1);
    await store.sweep();
    assert.equal(await store.create(newTask(), "a", { maxPerOwner: 1, maxPerTenant: 1, max: 1 }), "created");
  });

  test("tasks without a tenant count for no tenant", async ({ store }) => {
    const bounds = { maxPerOwner: 9, maxPerTenant: 1, max: 3 };
    for (const result of ["created", "created", "created", "all"]) {
      assert.equal(await store.create(newTask({ tenant: null, account: null }), "a", bounds), result);
    }
  });

  test("the tasks that count are listed for a tenant and for all, the oldest first", async ({ store, advance }) => {
    const tasks = [
      newTask({ kind: "zip", bucket: "mål" }),
      newTask({ owner: "bo", tenant: "research", account: "bo" }),
      newTask({ owner: "key", tenant: null, account: null, kind: "fixity" }),
    ];
    const ended = newTask();
    for (const task of [...tasks, ended]) {
      await store.create(task, "a", BOUNDS);
      await advance(1);
    }
    await store.end(tasks[0].id, "a", { ...END, keepsCaller: true });
    await store.end(ended.id, "a", END);
    await store.cancel(tasks[1].id);
    await store.release("a");
    await store.claim("b", 1);
    const all = await store.summaries(null);
    assert.deepEqual(
      all.map(({ createdAt: _, ...rest }) => rest),
      tasks.map(({ id, kind, owner, tenant, account, bucket }, n) => ({
        ...{ id, kind, owner, tenant, account, bucket },
        state: n === 0 ? "ready" : "running",
        isCanceling: n === 1,
        isLeased: n === 1,
      })),
    );
    assert.deepEqual((await store.summaries("research")).map(({ id }) => id), [tasks[1].id]);
    await advance(ENDED_TTL_MS);
    assert.deepEqual((await store.summaries("archive")).map(({ id }) => id), []);
  });

  test("tasks whose cancellation was requested are claimed beyond the limit, others of one owner alone", async ({ store }) => {
    const tasks = ["alva", "bo", "alva"].map((owner) => newTask({ owner }));
    for (const task of tasks) await store.create(task, "a", BOUNDS);
    await store.release("a");
    await store.cancel(tasks[1].id);
    assert.deepEqual(await store.claim("b", 0, "alva"), []);
    assert.deepEqual((await store.claim("b", 0)).map(({ id, isCanceling }) => [id, isCanceling]), [[
      tasks[1].id,
      true,
    ]]);
    assert.deepEqual(await store.claim("b", 9, "bo"), []);
    assert.deepEqual(
      (await store.claim("b", 9, "alva")).map(({ id }) => id).sort(),
      [tasks[0].id, tasks[2].id].sort(),
    );
  });

  test("an archive that is cancelled cannot be downloaded and leaves room", async ({ store }) => {
    const bounds = { maxPerOwner: 1, maxPerTenant: 1, max: 1 };
    const archive = newTask({ kind: "zip" });
    await store.create(archive, "a", bounds);
    await store.end(archive.id, "a", { ...END, keepsCaller: true });
    await store.cancel(archive.id);
    const canceled = await store.get(archive.id);
    assert.deepEqual([canceled?.state, canceled?.sealedCaller], ["canceled", null]);
    assert.deepEqual(await store.summaries(null), []);
    await store.cancel(archive.id);
    assert.equal(await store.create(newTask(), "a", bounds), "created");
    await store.prolong(archive.id);
    assert.equal((await store.get(archive.id))?.state, "canceled");
  });

  test("an ended task leaves room for another, an archive does once it has expired", async ({ store, advance }) => {
    const bounds = { maxPerOwner: 1, maxPerTenant: 1, max: 1 };
    const task = newTask();
    await store.create(task, "a", bounds);
    await store.end(task.id, "a", END);
    const archive = newTask({ kind: "zip" });
    assert.equal(await store.create(archive, "a", bounds), "created");
    await store.end(archive.id, "a", { ...END, keepsCaller: true });
    assert.equal(await store.create(newTask(), "a", bounds), "owner");
    await advance(ENDED_TTL_MS);
    assert.equal(await store.create(newTask(), "a", bounds), "created");
  });

  test("a task that ends loses its sealed keys unless they are needed", async ({ store }) => {
    const [count, archive] = [newTask(), newTask({ kind: "zip" })];
    for (const task of [count, archive]) await store.create(task, "a", BOUNDS);
    assert.equal(await store.end(count.id, "a", END), "stored");
    await store.end(archive.id, "a", { ...END, keepsCaller: true });
    const ended = await store.get(count.id);
    assert.deepEqual([ended?.state, ended?.progress, ended?.sealedCaller], ["ready", END.progress, null]);
    assert.ok(ended?.endedAt);
    assert.deepEqual((await store.get(archive.id))?.sealedCaller, new Uint8Array([1, 2, 3]));
  });

  test("an ended task can be read for ten minutes", async ({ store, advance }) => {
    const task = newTask();
    await store.create(task, "a", BOUNDS, new Map([["keys/0", new Uint8Array([7])]]));
    await store.end(task.id, "a", { ...END, state: "failed", error: "The bucket is gone" });
    await advance(ENDED_TTL_MS - 1000);
    assert.equal((await store.get(task.id))?.error, "The bucket is gone");
    await advance(1000);
    assert.equal(await store.get(task.id), null);
    await store.sweep();
    assert.deepEqual(await store.readBlobs(task.id, ["keys/0"]), [null]);
  });

  test("an archive that is prolonged lives ten minutes from then, at most a day in all", async ({ store, advance }) => {
    const [archive, count] = [newTask({ kind: "zip" }), newTask()];
    await store.create(archive, "a", BOUNDS, new Map([["plan/0", new Uint8Array([7])]]));
    await store.create(count, "a", BOUNDS);
    await advance(ENDED_TTL_MS);
    for (const { id } of [archive, count]) await store.save(id, "a", null);
    await store.end(archive.id, "a", { ...END, keepsCaller: true });
    await store.end(count.id, "a", END);
    await advance(ENDED_TTL_MS - 60_000);
    for (const { id } of [archive, count]) await store.prolong(id);
    await advance(ENDED_TTL_MS - 60_000);
    await store.sweep();
    assert.equal(await store.get(count.id), null);
    assert.deepEqual((await store.get(archive.id))?.sealedCaller, new Uint8Array([1, 2, 3]));
    assert.deepEqual(await store.readBlobs(archive.id, ["plan/0"]), [new Uint8Array([7])]);
    assert.equal(await store.create(newTask(), "a", { maxPerOwner: 1, maxPerTenant: 9, max: 9 }), "owner");
    for (let passed = 3 * ENDED_TTL_MS - 120_000; passed < MAX_RUN_MS; passed += ENDED_TTL_MS / 2) {
      await store.prolong(archive.id);
      await advance(Math.min(ENDED_TTL_MS / 2, MAX_RUN_MS - passed));
    }
    assert.equal(await store.get(archive.id), null);
  });

  test("a leased task cannot be claimed until its lease has expired, and then once", async ({ store, advance }) => {
    const task = await created(store);
    await advance(LEASE_MS - 1000);
    assert.deepEqual(await store.claim("b", 10), []);
    await advance(1000);
    assert.deepEqual((await store.claim("b", 10)).map(({ id }) => id), [task.id]);
    assert.deepEqual(await store.claim("c", 10), []);
    assert.equal(await store.save(task.id, "a", "{}"), "lost");
    assert.equal(await store.end(task.id, "a", END), "lost");
    assert.equal((await store.get(task.id))?.progress, task.progress);
    assert.equal(await store.save(task.id, "b", "{}"), "stored");
  });

  test("saving renews the lease, with and without progress", async ({ store, advance }) => {
    const task = await created(store);
    await advance(LEASE_MS - 1000);
    assert.equal(await store.save(task.id, "a", '{"files":1}'), "stored");
    await advance(LEASE_MS - 1000);
    assert.equal(await store.save(task.id, "a", null), "stored");
    await advance(LEASE_MS - 1000);
    assert.deepEqual(await store.claim("b", 10), []);
    assert.equal((await store.get(task.id))?.progress, '{"files":1}');
  });

  test("a task is updated when its progress or its state is stored, not when its lease is renewed", async ({ store, advance }) => {
    const task = await created(store);
    const seconds = async () => {
      const stored = await store.get(task.id);
      assert.ok(stored);
      return Math.floor((stored.updatedAt - stored.createdAt) / 1000);
    };
    await advance(1000);
    await store.save(task.id, "a", null);
    assert.equal(await seconds(), 0);
    await store.save(task.id, "a", "{}");
    assert.equal(await seconds(), 1);
    await advance(2000);
    await store.end(task.id, "a", END);
    const ended = await store.get(task.id);
    assert.equal(ended?.updatedAt, ended?.endedAt);
    assert.equal(await seconds(), 3);
  });

  test("the oldest tasks are claimed first, up to the limit", async ({ store, advance }) => {
    const tasks = [newTask(), newTask(), newTask()];
    for (const task of tasks) {
      await store.create(task, "a", BOUNDS);
      await advance(1000);
    }
    await advance(LEASE_MS);
    assert.deepEqual((await store.claim("b", 2)).map(({ id }) => id), tasks.slice(0, 2).map(({ id }) => id));
  });

  test("a process that stops releases its leases and no others", async ({ store }) => {
    const [mine, other] = [newTask(), newTask()];
    await store.create(mine, "a", BOUNDS);
    await store.create(other, "b", BOUNDS);
    await store.release("a");
    assert.deepEqual((await store.claim("c", 10)).map(({ id }) => id), [mine.id]);
  });

  test("cancellation is told to the process that works on the task, until it ends", async ({ store }) => {
    const task = await created(store);
    await store.cancel(task.id);
    assert.equal((await store.get(task.id))?.isCanceling, true);
    assert.equal(await store.save(task.id, "a", null), "canceling");
    await store.end(task.id, "a", { ...END, state: "canceled" });
    await store.cancel(task.id);
    const ended = await store.get(task.id);
    assert.deepEqual([ended?.state, ended?.isCanceling], ["canceled", false]);
    assert.equal(await store.save(task.id, "a", "{}"), "lost");
  });

  test("blobs are written and read by name, and deleted with their task", async ({ store }) => {
    const task = newTask();
    await store.create(task, "a", BOUNDS, new Map([["0", new Uint8Array([0, 255])]]));
    await store.writeBlobs(task.id, new Map([["1", new Uint8Array(300_000).fill(5)], ["0", new Uint8Array()]]));
    const [first, none, second] = await store.readBlobs(task.id, ["0", "7", "1"]);
    assert.deepEqual([first, none, second?.length, second?.[299_999]], [new Uint8Array(), null, 300_000, 5]);
    await store.writeBlobs(randomUUID(), new Map([["0", new Uint8Array([1])]]));
  });

  test("a task that runs for more than a day is read until a sweep fails it, and is not claimed", async ({ store, advance }) => {
    const task = newTask({ kind: "delete" });
    await store.create(task, "a", BOUNDS);
    await advance(MAX_RUN_MS - LEASE_MS);
    await store.release("a");
    await advance(LEASE_MS);
    assert.deepEqual(await store.claim("b", 10), []);
    assert.equal((await store.get(task.id))?.state, "running");
    await store.sweep();
    const failed = await store.get(task.id);
    assert.deepEqual([failed?.state, failed?.error, failed?.sealedCaller], ["failed", RAN_TOO_LONG, null]);
    assert.equal(await store.save(task.id, "a", null), "lost");
  });

  test("of an owner's ended tasks the oldest is deleted beyond the bound, and no archive", async (under) => {
    const { store, advance } = under;
    const end = async (owner: string, keepsCaller: boolean) => {
      const task = newTask({ owner });
      await store.create(task, "a", BOUNDS, new Map([["0", new Uint8Array([1])]]));
      await store.end(task.id, "a", { ...END, keepsCaller });
      await advance(1);
      return task.id;
    };
    const archive = await end("alva", true);
    const other = await end("bo", false);
    const ids: string[] = [];
    for (let count = 0; count <= MAX_ENDED_PER_OWNER; count++) ids.push(await end("alva", false));
    assert.equal(await store.get(ids[0]), null);
    assert.deepEqual(await store.readBlobs(ids[0], ["0"]), [null]);
    for (const id of [archive, other, ids[1], ids[MAX_ENDED_PER_OWNER]]) assert.equal((await store.get(id))?.id, id);
  });
}
