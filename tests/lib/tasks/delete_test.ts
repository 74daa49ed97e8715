import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { DELETE, deleteHandler, type DeleteProgress, newDelete } from "@/lib/tasks/delete.ts";
import { ModelStore } from "./model_store.ts";
import { TestJob } from "./test_job.ts";

/** A deletion from a store. */
function deletion(store: ModelStore, keys: readonly string[], prefixes: readonly string[]): TestJob<DeleteProgress> {
  return new TestJob(newDelete(keys, prefixes), (job) => deleteHandler(store.s3).run(job));
}

const numbers = ({ total, deleted, failed }: DeleteProgress) => ({ total, deleted, failed });
const many = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

Deno.test("delete: what is under prefixes and the named keys go, all is counted before, and nothing twice", async () => {
  const store = new ModelStore([...many("a/", 2500), ...many("b/", 10), "c", "d", "A/1"]);
  const job = deletion(store, ["c", "c", "absent", "a/7"], ["a/", "a/2", "b/"]);
  assert.deepEqual(numbers(await job.run()), { total: 2512, deleted: 2512, failed: 0 });
  assert.deepEqual([...store.objects.keys()], ["d", "A/1"]);
  assert.deepEqual(store.deletes.map(({ length }) => length), [2, 1000, 1000, 500, 10]);
  assert.ok(store.lists.every((query) => !query.has("fetch-owner")), "owners are not needed");
  const first = job.stored.find(({ deleted }) => deleted > 0);
  assert.equal(first?.total, 2512);
});

Deno.test("delete: what the store refuses is counted as failed, a hundred with their reasons, and is not tried again", async () => {
  const store = new ModelStore(many("a/", 1500));
  for (const key of many("a/", 150)) store.held.add(key);
  const done = await deletion(store, [], ["a/"]).run();
  assert.deepEqual(numbers(done), { total: 1500, deleted: 1350, failed: 150 });
  assert.equal(done.errors.length, 100);
  assert.deepEqual(done.errors[0], { Key: "a/0", Code: "AccessDenied", Message: "held" });
  assert.equal(store.deletes.length, 2);
});

Deno.test("delete: wherever it is broken off, it goes on with exact numbers", async () => {
  for (let stopAt = 1; stopAt < 40; stopAt++) {
    const store = new ModelStore([...many("a/", 95), ...many("b/", 25), ...many("k", 30)]);
    store.pageSize = 10;
    for (const key of ["a/3", "a/94", "b/7"]) store.held.add(key);
    const job = deletion(store, many("k", 30), ["a/", "b/"]);
    job.stopAt = stopAt;
    assert.deepEqual(numbers(await job.runThrough()), { total: 150, deleted: 147, failed: 3 }, `stop ${stopAt}`);
    assert.deepEqual([...store.objects.keys()].sort(), ["a/3", "a/94", "b/7"]);
  }
});

Deno.test("delete: a page whose response was lost is counted once", async () => {
  const store = new ModelStore(many("a/", 25));
  store.pageSize = 10;
  let deletes = 0;
  const job = deletion(store, [], ["a/"]);
  store.before = ({ method, body }) => {
    if (method !== "POST" || ++deletes !== 2) return;
    // The store has deleted half of the page when the connection breaks.
    const keys = [...String(body).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key);
    for (const key of keys.slice(0, 5)) store.objects.delete(key);
    throw new Error("stopped");
  };
  assert.deepEqual(numbers(await job.runThrough()), { total: 25, deleted: 25, failed: 0 });
});

Deno.test("delete: a cancellation lets the page under way end, and counts it", async () => {
  const store = new ModelStore(many("a/", 30));
  store.pageSize = 10;
  const job = deletion(store, [], ["a/"]);
  store.before = ({ method, signal }) => {
    if (method !== "POST") return;
    job.cancel();
    assert.ok(!signal?.aborted);
  };
  await assert.rejects(job.run(), { message: "cancelled" });
  const last = job.stored.at(-1);
  assert.deepEqual([last?.deleted, last?.page, store.objects.size], [10, null, 20]);
});

Deno.test("delete: keys with control characters, dot segments, the longest names and case twins", async () => {
  const keys = ["a\x01b", "../up", "a/../b", "é".repeat(512), "Twin", "twin", "a&b<c>\r\n"];
  const store = new ModelStore(keys);
  assert.deepEqual(numbers(await deletion(store, ["twin"], [""]).run()), { total: 7, deleted: 7, failed: 0 });
  assert.equal(store.objects.size, 0);
});

Deno.test("delete: a store that does not list from a key on is an error before anything is deleted twice", async () => {
  const store = new ModelStore(many("a/", 30));
  store.pageSize = 10;
  store.quirk = "no start-after";
  for (const key of many("a/", 3)) store.held.add(key);
  await assert.rejects(deletion(store, [], ["a/"]).run(), { status: 501 });
});

Deno.test("delete: each deleted chunk of named keys is stored at once, so that no key is deleted again after a crash", async () => {
  const job = deletion(new ModelStore(many("k", 2500)), many("k", 2500), []);
  await job.run();
  assert.deepEqual(job.storedAtOnce.map(({ index, deleted }) => [index, deleted]), [[1, 1000], [2, 2000], [3, 2500]]);
});

Deno.test("delete: a list that is damaged, or unpacks to more than 64 MiB, is 410 before anything is deleted", async () => {
  for (const damaged of [new Uint8Array([1, 2]), gzipSync(new Uint8Array(65 * 1024 * 1024)), gzipSync('{"a":1}')]) {
    const store = new ModelStore(["k"]);
    const job = deletion(store, ["k"], []);
    job.blobs.set("prefixes", damaged);
    await assert.rejects(job.run(), { status: 410, message: /start the task again/ });
    assert.equal(store.objects.size, 1);
  }
});

Deno.test("delete: a store that reports more errors than keys makes no number negative", async () => {
  const store = new ModelStore(["k"]);
  const error = "<Error><Key>k</Key><Code>InternalError</Code><Message>x</Message></Error>";
  const { s3 } = store;
  const send = s3.upstream.send;
  const upstream: typeof s3.upstream = {
    ...s3.upstream,
    send: (request) =>
      request.method === "POST"
        ? Promise.resolve(new Response(`<DeleteResult>${error.repeat(3)}</DeleteResult>`))
        : send(request),
  };
  Object.defineProperty(store, "s3", { value: { ...s3, upstream } });
  assert.deepEqual(numbers(await deletion(store, ["k", "l"], []).run()), { total: 2, deleted: 0, failed: 2 });
});

Deno.test("delete: a progress with a negative number is not of this version", () => {
  const { progress } = newDelete(["k"], []);
  assert.ok(DELETE.progress.safeParse(progress).success);
  assert.ok(!DELETE.progress.safeParse({ ...progress, phase: "prefixes", index: -1 }).success);
});
