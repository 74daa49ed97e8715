import assert from "node:assert/strict";
import type { Job } from "@/lib/tasks/task_keys.ts";
import type { Blobs } from "@/lib/tasks/task.ts";
import { EMPTY_PLAN, PlanBuilder } from "@/lib/tasks/zip/zip_format.ts";
import { zipHandler, type ZipProgress } from "@/lib/tasks/zip/zip_task.ts";
import { CALLER, s3Error, startObjectServer } from "./object_server.ts";

async function planned(keys: readonly string[]): Promise<{ progress: ZipProgress; blobs: Map<string, Uint8Array> }> {
  const plan = new PlanBuilder();
  for (const key of keys) plan.add(key);
  const blobs = new Map(await plan.blobs());
  const none = { completed: 0, failedKeys: [], plan: EMPTY_PLAN };
  return { progress: { ...none, total: plan.count, chunks: blobs.size }, blobs };
}

/** A run of a task that stores its blobs in a map. */
function jobOf(
  progress: ZipProgress,
  blobs: Map<string, Uint8Array>,
  checkpoint: Job<ZipProgress>["checkpoint"],
): Job<ZipProgress> {
  const { signal } = new AbortController();
  return {
    id: "a task",
    bucket: "letters",
    caller: CALLER,
    progress,
    signal,
    leaseSignal: signal,
    read: (work) => work(),
    yieldTurn: () => Promise.resolve(false),
    checkpoint,
    readBlobs: (names) => Promise.resolve(names.map((name) => (blobs.get(name) ?? null) as Uint8Array<ArrayBuffer>)),
    writeBlobs: (written: Blobs) => {
      for (const [name, blob] of written) blobs.set(name, blob);
      return Promise.resolve();
    },
  };
}

Deno.test("zip task: work that was interrupted within a chunk counts each object once", async () => {
  await using server = startObjectServer();
  const keys = Array.from({ length: 30 }, (_, number) => `${number}`);
  for (const key of keys) server.objects.set(key, new Uint8Array(Number(key)));
  const { progress, blobs } = await planned([...keys, "missing"]);
  let stored = progress;
  const run = (interruptAt: number) =>
    zipHandler(server.source.s3).run(jobOf(stored, blobs, (progress) => {
      stored = progress;
      return progress.completed < interruptAt ? Promise.resolve() : Promise.reject(new Error("interrupted"));
    }));
  await assert.rejects(run(10), /interrupted/);
  assert.ok(stored.completed >= 10);
  const { completed, failedKeys, plan } = await run(Infinity);
  assert.deepEqual([completed, plan.entries, plan.missing, failedKeys], [31, 31, 1, ["missing"]]);
});

Deno.test("zip task: an object that stays busy is left out, unless all of them are", async () => {
  await using server = startObjectServer();
  for (const key of ["a", "b", "c"]) server.objects.set(key, new Uint8Array(3));
  server.fault = (key) => key === "b" ? s3Error(503, "SlowDown") : null;
  const run = async (keys: readonly string[]) => {
    const { progress, blobs } = await planned(keys);
    return await zipHandler(server.source.s3, [1, 1]).run(jobOf(progress, blobs, () => Promise.resolve()));
  };
  const { completed, failedKeys } = await run(["a", "b", "c"]);
  assert.deepEqual([completed, failedKeys], [3, ["b"]]);
  assert.equal(server.reads.filter((key) => key === "b").length, 3);
  await assert.rejects(run(["b"]), { status: 503 });
});

Deno.test("zip task: only a chunk that is complete is a step from which the next run goes on", async () => {
  await using server = startObjectServer();
  for (const key of ["a", "b"]) server.objects.set(key, new Uint8Array(3));
  const { progress, blobs } = await planned(["a", "b"]);
  const steps: [completed: number, chunks: number, how?: string][] = [];
  await zipHandler(server.source.s3).run(jobOf(progress, blobs, ({ completed, plan }, how) => {
    steps.push([completed, plan.chunks, how]);
    return Promise.resolve();
  }));
  assert.deepEqual(steps, [[1, 0, "partial"], [2, 0, "partial"], [2, 1, undefined]]);
});

Deno.test("zip task: no look-up goes on when a run has failed", async () => {
  await using server = startObjectServer();
  const slow = Promise.withResolvers<null>();
  server.fault = (key) => key === "a" ? null : slow.promise;
  for (const key of ["a", "b"]) server.objects.set(key, new Uint8Array(3));
  const { progress, blobs } = await planned(["a", "b"]);
  const both = Promise.withResolvers<void>();
  const runs: boolean[] = [];
  let isOver = false;
  const run = zipHandler(server.source.s3, []).run(jobOf(progress, blobs, () => {
    if (runs.push(isOver) === 2) both.resolve();
    setImmediate(() => slow.resolve(null));
    return Promise.reject(new Error("interrupted"));
  })).finally(() => isOver = true);
  await assert.rejects(run, /interrupted/);
  await both.promise;
  assert.deepEqual(runs, [false, false]);
});

Deno.test("zip task: a damaged part of a plan is 410", async () => {
  await using server = startObjectServer();
  const { progress, blobs } = await planned(["a"]);
  for (const name of blobs.keys()) blobs.set(name, new Uint8Array([1, 2, 3]));
  await assert.rejects(zipHandler(server.source.s3).run(jobOf(progress, blobs, () => Promise.resolve())), {
    status: 410,
  });
});

Deno.test("zip task: an object whose ETag is too long for the plan is left out", async () => {
  await using server = startObjectServer();
  const headers = { etag: `"${"e".repeat(1024)}"` };
  server.fault = (key) => key === "a" ? new Response(new Uint8Array(1), { headers }) : null;
  server.objects.set("b", new Uint8Array(3));
  const { progress, blobs } = await planned(["a", "b"]);
  const done = await zipHandler(server.source.s3).run(jobOf(progress, blobs, () => Promise.resolve()));
  assert.deepEqual([done.completed, done.failedKeys], [2, ["a"]]);
});
