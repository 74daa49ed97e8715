import assert from "node:assert/strict";
import { z } from "zod";
import type { AuditEvent } from "@/lib/http/audit_event.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { EndedTask, TaskHandler } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { caller, COUNT, KEYS, sceneTest, start, untilAborted } from "./task_scene.ts";

const DELETION = {
  kind: "delete",
  progress: z.object({ deleted: z.int(), failed: z.int() }),
} as const;
type Deleted = z.infer<typeof DELETION.progress>;

sceneTest(
  "each end is announced before it is stored, and recorded once where the task changes something",
  async (scene) => {
    const events: AuditEvent[] = [];
    const note = (event: AuditEvent) => void events.push(event);
    const recorder = { requireRoom() {}, note, record: (event: AuditEvent) => Promise.resolve(note(event)) };
    const ended: EndedTask<Deleted>[] = [];
    const stored: string[] = [];
    const works: TaskHandler<Deleted>["run"][] = [
      () => Promise.resolve({ deleted: 3, failed: 1 }),
      () => Promise.reject(new HttpError(403, "Not allowed")),
      untilAborted,
    ];
    const deletion: TaskHandler<Deleted> = {
      ...DELETION,
      run: (job) => works.shift()!(job),
      async onEnd(end) {
        ended.push(end);
        stored.push((await scene.stored(end.id)).state);
      },
    };
    const runner = new TaskRunner({
      store: scene.store(),
      keys: KEYS,
      handlers: [deletion, { ...COUNT, run: () => Promise.resolve({ done: 1 }) }],
      bounds: { maxPerOwner: 100, maxPerTenant: 100, max: 100 },
      clock: scene.clock,
      log: { write: () => {} },
      recorder,
    });
    runner.start();
    const startDeletion = () =>
      runner.create(DELETION, { caller: caller("alva"), bucket: "letters", progress: { deleted: 0, failed: 0 } });
    const ids = [await startDeletion(), await startDeletion(), await startDeletion()];
    await start(runner);
    await scene.clock.advance(0);
    await runner.cancel(ids[2]);
    await scene.clock.advance(0);

    const states = ["ready", "failed", "canceled"];
    assert.deepEqual(
      ended.map(({ id, state, error, tenant, progress }) => [id, state, error?.slice(0, 11), tenant, progress]),
      [
        [ids[0], "ready", undefined, "archive", { deleted: 3, failed: 1 }],
        [ids[1], "failed", "Not allowed", "archive", { deleted: 0, failed: 0 }],
        [ids[2], "canceled", undefined, "archive", { deleted: 0, failed: 0 }],
      ],
    );
    assert.deepEqual(stored, ["running", "running", "running"]);
    assert.deepEqual(await Promise.all(ids.map(async (id) => (await scene.stored(id)).state)), states);
    assert.deepEqual(
      events,
      states.map((state, at) => ({
        action: "task_end",
        tenant: "archive",
        actor: { name: "alva", tenant: "archive" },
        address: null,
        requestId: null,
        role: null,
        target: { kind: "bucket", bucket: "letters" },
        status: null,
        result: state === "failed" ? "failed" : "succeeded",
        details: {
          task: "delete",
          task_id: ids[at],
          state,
          deleted: at === 0 ? 3 : 0,
          not_deleted: at === 0 ? 1 : 0,
        },
      })),
    );
    await runner.stop();
  },
);
