import assert from "node:assert/strict";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { LogEntry } from "@/lib/http/app.ts";
import { unavailable } from "@/lib/http/errors.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import type { Task, TaskStore } from "@/lib/tasks/task.ts";
import { type Job, type TaskHandler, taskKeys, type TaskType } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { FakeClock } from "./fake_clock.ts";

export type Counted = { readonly done: number };
export type Work = (job: Job<Counted>) => Promise<Counted>;

export const COUNT = { kind: "count", progress: z.object({ done: z.int() }) } as const;
export const KEYS = taskKeys(new TextEncoder().encode("a secret of this test"));

export function caller(username: string, tenant = "archive"): Caller {
  return {
    username,
    tenant,
    s3: { accessKey: username, secretKey: "s" },
    mapiAuthorization: null,
    named: true,
  };
}

/** Stores and processes that share one clock. */
export class Scene {
  readonly clock = new FakeClock();
  readonly logged: LogEntry[] = [];
  readonly sqlite = new SqliteTaskStore(":memory:", () => 1_700_000_000_000 + this.clock.now());
  /** While set, the store is not reachable. */
  isDown = false;

  store(): TaskStore {
    return new Proxy<TaskStore>(this.sqlite, {
      get: (target, name: keyof TaskStore) =>
        this.isDown
          ? () => Promise.reject(unavailable("The task store cannot be reached", 5))
          : target[name].bind(target),
    });
  }

  /** A process that begins at once. */
  process(
    run: Work,
    bounds = { maxPerOwner: 100, maxPerTenant: 100, max: 100 },
    type: TaskType<Counted> = COUNT,
    prove?: (caller: Caller) => Promise<void>,
  ): TaskRunner {
    const handler: TaskHandler<Counted> = { ...type, run };
    const runner = new TaskRunner({
      store: this.store(),
      keys: KEYS,
      handlers: [handler],
      bounds,
      clock: this.clock,
      log: { write: (entry) => void this.logged.push(entry) },
      prove,
    });
    runner.start();
    return runner;
  }

  async stored(id: string): Promise<Task> {
    const task = await this.sqlite.get(id);
    assert.ok(task);
    return task;
  }
}

/** Creates a task. @returns its id */
export const start = (runner: TaskRunner, username = "alva", bucket = "letters") =>
  runner.create(COUNT, { caller: caller(username), bucket, progress: { done: 0 } });

/** A test with a scene of its own. */
export function sceneTest(name: string, run: (scene: Scene) => Promise<void>): void {
  Deno.test(`task runner: ${name}`, async () => {
    const scene = new Scene();
    await run(scene);
    await scene.sqlite.close();
  });
}

/** Waits until the job is interrupted, as work that waits for the store does. */
export function untilAborted({ signal }: Pick<Job<Counted>, "signal">): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
}
