import assert from "node:assert/strict";
import { z } from "zod";
import type { AuditEvent } from "@/lib/http/audit_event.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { EndedTask } from "@/lib/tasks/task_handler.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { caller, COUNT, type Counted, KEYS, sceneTest, start, untilAborted, type Work } from "./task_scene.ts";

sceneTest("each end is announced with its state and progress before it is stored", async (scene) => {
  const ended: EndedTask<Counted>[] = [];
  const stored: string[] = [];
  const works: Work[] = [
    () => Promise.resolve({ done: 3 }),
    () => Promise.reject(new HttpError(403, "Not allowed")),
    (job) => untilAborted(job),
  ];
  const runner = new TaskRunner({
    store: scene.store(),
    keys: KEYS,
    handlers: [{
      ...COUNT,
      run: (job) => (works.shift() as Work)(job as Parameters<Work>[0]),
      async onEnd(end) {
        ended.push(end as EndedTask<Counted>);
        stored.push((await scene.stored(end.id)).state);
      },
    }],
    bounds: { maxPerOwner: 100, maxPerTenant: 100, max: 100 },
    clock: scene.clock,
    log: { write: () => {} },
  });
  runner.start();
  const ids = [await start(runner), await start(runner), await start(runner)];
  await scene.clock.advance(0);
  await runner.cancel(ids[2]);
  await scene.clock.advance(0);
  assert.deepEqual(ended.map(({ id, state, error, tenant }) => [id, state, error?.slice(0, 11) ?? null, tenant]), [
    [ids[0], "ready", null, "archive"],
    [ids[1], "failed", "Not allowed", "archive"],
    [ids[2], "canceled", null, "archive"],
  ]);
  assert.deepEqual(ended.map(({ progress }) => progress), [{ done: 3 }, { done: 0 }, { done: 0 }]);
  assert.deepEqual(stored, ["running", "running", "running"]);
  for (const [at, state] of ["ready", "failed", "canceled"].entries()) {
    assert.equal((await scene.stored(ids[at])).state, state);
  }
  await runner.stop();
});

sceneTest(
  "each end of a task that changes something is recorded once, with who started it and what it did",
  async (scene) => {
    const events: AuditEvent[] = [];
    const note = (event: AuditEvent) => void events.push(event);
    const recorder = { requireRoom() {}, note, record: (event: AuditEvent) => Promise.resolve(note(event)) };
    const deletion = {
      kind: "delete",
      progress: z.object({ deleted: z.int(), failed: z.int() }),
      keepsCaller: false,
    } as const;
    const works: ((job: Parameters<Work>[0]) => Promise<unknown>)[] = [
      () => Promise.resolve({ deleted: 3, failed: 1 }),
      () => Promise.reject(new HttpError(403, "Not allowed")),
      (job) => untilAborted(job),
    ];
    const run = (job: unknown) => (works.shift() as (job: unknown) => Promise<never>)(job);
    const runner = new TaskRunner({
      store: scene.store(),
      keys: KEYS,
      handlers: [{ ...deletion, run }, { ...COUNT, run: () => Promise.resolve({ done: 1 }) }],
      bounds: { maxPerOwner: 100, maxPerTenant: 100, max: 100 },
      clock: scene.clock,
      log: { write: () => {} },
      recorder,
    });
    runner.start();
    const startDeletion = () =>
      runner.create(deletion, { caller: caller("alva"), bucket: "letters", progress: { deleted: 0, failed: 0 } });
    const ids = [await startDeletion(), await startDeletion(), await startDeletion()];
    await start(runner);
    await scene.clock.advance(0);
    await runner.cancel(ids[2]);
    await scene.clock.advance(0);
    const shared = {
      action: "task_end",
      tenant: "archive",
      actor: { name: "alva", tenant: "archive" },
      address: null,
      requestId: null,
      role: null,
      target: { kind: "bucket", bucket: "letters" },
      status: null,
    };
    const of = (at: number, state: string, deleted: number, not_deleted: number) => ({
      task: "delete",
      task_id: ids[at],
      state,
      deleted,
      not_deleted,
    });
    assert.deepEqual(events, [
      { ...shared, result: "succeeded", details: of(0, "ready", 3, 1) },
      { ...shared, result: "failed", details: of(1, "failed", 0, 0) },
      { ...shared, result: "succeeded", details: of(2, "canceled", 0, 0) },
    ]);
    await runner.stop();
  },
);
