import assert from "node:assert/strict";
import { endParts } from "@/compose/ending.ts";
import { until } from "@/tests/until.ts";

interface Held {
  /** What ends the requests. */
  readonly requests?: Promise<void>;
  readonly tasks?: Promise<void>;
  readonly untilEndMs?: number;
}

/** Ends parts that note what happens to them. */
function ending({ requests = Promise.resolve(), tasks = Promise.resolve(), untilEndMs = 600_000 }: Held) {
  const steps: string[] = [];
  const step = (name: string, ended = Promise.resolve()) => () => {
    steps.push(name);
    return ended;
  };
  let trailMs = NaN;
  const ended = endParts({
    listener: { drain: step("requests", requests) },
    metricsListener: { drain: step("metrics") },
    application: {
      stopTasks: step("tasks", tasks),
      hurryTrail: () => void steps.push("hurry"),
      closeTrail(ms) {
        trailMs = ms;
        return step("trail")();
      },
      close: step("application"),
    },
    cluster: { stop: step("cluster") },
    store: { stop: step("store") },
  }, { untilCutMs: () => untilEndMs - 900, untilEndMs: () => untilEndMs });
  return { steps, ended, trailMs: () => trailMs };
}

const ORDER = ["hurry", "requests", "tasks", "trail", "metrics", "application", "cluster", "store"];

Deno.test("ending: the trail is closed behind requests and tasks, and the servers last", async () => {
  const requests = Promise.withResolvers<void>();
  const { steps, ended, trailMs } = ending({ requests: requests.promise });
  assert.deepEqual(steps, ["hurry", "requests", "tasks"]);
  requests.resolve();
  await ended;
  assert.deepEqual(steps, ORDER);
  assert.equal(trailMs(), 599_700);
});

Deno.test("ending: a request or a task that hangs leaves the trail time to be closed, and what is behind it waits", async () => {
  for (const held of ["requests", "tasks"] as const) {
    const late = Promise.withResolvers<void>();
    const { steps, ended, trailMs } = ending({ [held]: late.promise, untilEndMs: 610 });
    await until("the trail is closed", () => steps.includes("trail") || null);
    assert.deepEqual(steps, ["hurry", "requests", "tasks", "trail"]);
    assert.equal(trailMs(), 310);
    late.resolve();
    await ended;
    assert.deepEqual(steps, ORDER);
  }
});

Deno.test("ending: requests that cannot be ended keep nothing else open", async () => {
  const { steps, ended } = ending({ requests: Promise.reject(new Error("a fault")) });
  await ended;
  assert.deepEqual(steps, ORDER);
});
