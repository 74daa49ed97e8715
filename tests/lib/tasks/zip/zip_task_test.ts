import assert from "node:assert/strict";
import type { Job } from "@/lib/tasks/task_handler.ts";
import type { Blobs } from "@/lib/tasks/task_store.ts";
import { PlanBuilder } from "@/lib/tasks/zip/zip_plan.ts";
import { zipHandler, type ZipProgress } from "@/lib/tasks/zip/zip_task.ts";
import { CALLER, startObjectServer } from "./object_server.ts";

Deno.test("zip task: work that was interrupted within a chunk counts each object once", async () => {
  await using server = startObjectServer();
  const plan = new PlanBuilder();
  for (let number = 0; number < 30; number++) {
    server.objects.set(`${number}`, new Uint8Array(number));
    plan.add({ key: `${number}`, found: null });
  }
  plan.add({ key: "missing", found: null });
  const blobs: Map<string, Uint8Array> = new Map(await plan.blobs());
  let stored: ZipProgress = {
    total: plan.count,
    completed: 0,
    failed: 0,
    failedKeys: [],
    chunks: blobs.size,
    plan: { chunks: [], digest: "" },
  };
  const { signal } = new AbortController();
  const run = (interruptAt: number) => {
    const job: Job<ZipProgress> = {
      id: "a task",
      bucket: "letters",
      caller: CALLER,
      progress: stored,
      signal,
      leaseSignal: signal,
      checkpoint(progress) {
        stored = progress;
        return progress.completed < interruptAt ? Promise.resolve() : Promise.reject(new Error("interrupted"));
      },
      readBlobs: (names) => Promise.resolve(names.map((name) => (blobs.get(name) ?? null) as Uint8Array<ArrayBuffer>)),
      writeBlobs: (written: Blobs) => {
        for (const [name, blob] of written) blobs.set(name, blob);
        return Promise.resolve();
      },
    };
    return zipHandler(server.source.s3).run(job);
  };
  await assert.rejects(run(10), /interrupted/);
  assert.ok(stored.completed >= 10);
  const { completed, failed, failedKeys } = await run(Infinity);
  assert.deepEqual([completed, failed, failedKeys], [31, 1, ["missing"]]);
});
