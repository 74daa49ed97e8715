import assert from "node:assert/strict";
import { endParts } from "@/compose/ending.ts";
import { ManualClock } from "@/tests/manual_clock.ts";
import { until } from "@/tests/until.ts";

interface Held {
  /** What ends the requests. */
  readonly requests?: Promise<void>;
  readonly tasks?: Promise<void>;
  readonly untilEndMs?: number;
}

/** Ends parts that note what happens to them, by the clock of deadlines. */
function ending({ requests = Promise.resolve(), tasks = Promise.resolve(), untilEndMs = 600_000 }: Held) {
  const steps: string[] = [];
  const step = (name: string, ended = Promise.resolve()) => () => {
    steps.push(name);
    return ended;
  };
  let trailMs = NaN;
  let tasksMs = NaN;
  const end = performance.now() + untilEndMs;
  const leftMs = () => end - performance.now();
  const ended = endParts({
    listener: { drain: step("requests", requests) },
    metricsListener: { drain: step("metrics") },
    application: {
      stopTasks(leftMs) {
        tasksMs = leftMs();
        return step("tasks", tasks)();
      },
      hurryTrail: () => void steps.push("hurry"),
      closeTrail(ms) {
        trailMs = ms;
        return step("trail")();
      },
      close: step("application"),
    },
    cluster: { stop: step("cluster") },
    store: { drain: step("drain"), stop: step("store") },
  }, { untilCutMs: () => leftMs() - 900, untilEndMs: leftMs });
  return { steps, ended, trailMs: () => trailMs, tasksMs: () => tasksMs };
}

const ORDER = ["hurry", "requests", "tasks", "cluster", "drain", "trail", "metrics", "application", "store"];
const LATE_ORDER = ["hurry", "requests", "tasks", "trail", "cluster", "drain", "metrics", "application", "store"];

Deno.test("ending: the trail is closed behind requests and tasks, and the servers last", async () => {
  using _ = new ManualClock();
  const requests = Promise.withResolvers<void>();
  const { steps, ended, trailMs, tasksMs } = ending({ requests: requests.promise });
  assert.deepEqual(steps, ["hurry", "requests", "tasks"]);
  requests.resolve();
  await ended;
  assert.deepEqual(steps, ORDER);
  assert.deepEqual([tasksMs(), trailMs()], [599_100, 599_700], "tasks end before requests are cut");
});

Deno.test("ending: a request or a task that hangs leaves the trail time to be closed, and what is behind it waits", async () => {
  for (const held of ["requests", "tasks"] as const) {
    using clock = new ManualClock();
    const late = Promise.withResolvers<void>();
    const { steps, ended, trailMs } = ending({ [held]: late.promise, untilEndMs: 4900 });
    clock.advance(4300);
    await until("the trail is closed", () => steps.includes("trail") || null);
    assert.deepEqual(steps, ["hurry", "requests", "tasks", "trail"]);
    assert.equal(trailMs(), 300);
    late.resolve();
    await ended;
    assert.deepEqual(steps, LATE_ORDER);
  }
});

Deno.test("ending: requests that cannot be ended keep nothing else open", async () => {
  const { steps, ended } = ending({ requests: Promise.reject(new Error("a fault")) });
  await ended;
  assert.deepEqual(steps, ORDER);
});
