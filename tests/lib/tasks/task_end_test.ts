import assert from "node:assert/strict";
import { HttpError } from "@/lib/http/errors.ts";
import type { EndedTask } from "@/lib/tasks/task_handler.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { COUNT, type Counted, KEYS, sceneTest, start, untilAborted, type Work } from "./task_scene.ts";

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
    bounds: { maxPerOwner: 100, max: 100 },
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
