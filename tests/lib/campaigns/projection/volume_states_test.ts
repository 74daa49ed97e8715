import assert from "node:assert/strict";
import { liveStates } from "@/lib/campaigns/projection/volume_states.ts";
import { condition, job, pod, terminated } from "./cluster_fixtures.ts";

const crashed = {
  containerStatuses: [terminated("wrapper", { exitCode: 1, message: "boom" })],
};
const failed = { phase: "Failed", ...crashed };
const EARLY = { name: "early", creationTimestamp: "2025-11-20T08:00:00Z" };
const LATE = { name: "late", creationTimestamp: "2025-11-20T09:00:00Z" };
const FAILED_JOB = { conditions: [condition("Failed", "2025-11-20T10:00:00Z")] };
const boom = { stage: null, permanent: null, error: "boom" };

Deno.test("volume states: done before failed before active before pending", () => {
  const { states } = liveStates(
    5,
    job({
      spec: { completions: 5 },
      status: { completedIndexes: "0-1", failedIndexes: "1-2" },
    }),
    [
      pod("0"),
      pod("2"),
      pod("3"),
    ],
  );
  assert.deepEqual(states, ["done", "done", "failed", "active", "pending"]);
});

Deno.test("volume states: pods without an index or beyond the completions are ignored", () => {
  const { states } = liveStates(3, job({ spec: { completions: 2 } }), [
    pod("x"),
    pod(null),
    pod("2"),
    pod("99"),
  ]);
  assert.deepEqual(states, ["pending", "pending", "pending"]);
});

Deno.test("volume states: there are as many as lines, whatever the completions", () => {
  assert.equal(
    liveStates(2, job({ spec: { completions: 9 } }), []).states.length,
    2,
  );
  assert.equal(liveStates(0, job(), [pod("0")]).states.length, 0);
});

Deno.test("volume states: the newest pod alone gives the reason, and a done volume has none", () => {
  const older = "2025-11-20T08:00:00Z";
  const newer = "2025-11-20T09:00:00Z";
  const campaign = job({
    status: { completedIndexes: "0", failedIndexes: "1" },
  });
  const states = liveStates(4, campaign, [
    pod("0", crashed),
    pod("1", crashed, { creationTimestamp: newer }),
    pod("1", { reason: "Evicted" }, { creationTimestamp: older }),
    pod("2", crashed, { creationTimestamp: older }),
    pod("2", {}, { creationTimestamp: newer }),
    pod("3", crashed),
  ]);
  assert.equal(states.reason(0), null);
  assert.deepEqual(states.reason(1), boom);
  assert.equal(states.reason(2), null);
  assert.deepEqual(states.reason(3), boom);
});

Deno.test("volume states: an attempt begins with the newest pod", () => {
  const { attemptAt } = liveStates(3, job(), [
    pod("0", {}, { creationTimestamp: "2025-11-20T08:00:00Z" }),
    pod("0", {}, { creationTimestamp: "2025-11-20T09:00:00Z" }),
    pod("1", {}, { creationTimestamp: "" }),
  ]);
  assert.deepEqual([0, 1, 2].map(attemptAt), [Date.parse("2025-11-20T09:00:00Z"), null, null]);
});

Deno.test("volume states: a failed volume whose pod is gone has no reason", () => {
  assert.equal(
    liveStates(2, job({ status: { failedIndexes: "1" } }), []).reason(1),
    null,
  );
});

Deno.test("volume states: on an ended Job the newest pod of a volume decides, in whatever order pods come", () => {
  const deletionTimestamp = "2025-11-20T10:00:00Z";
  const cases: [string, ReturnType<typeof pod>[]][] = [
    ["unfinished", []],
    ["active", [pod("0", { phase: "Pending" })]],
    ["active", [pod("0", { phase: "Running" })]],
    ["active", [pod("0", { phase: "Unknown" })]],
    ["unfinished", [pod("0", { phase: "Running" }, { deletionTimestamp })]],
    ["unfinished", [pod("0", { phase: undefined })]],
    ["failed", [pod("0", failed)]],
    ["failed", [pod("0", failed, { deletionTimestamp })]],
    ["done", [pod("0", { phase: "Succeeded" })]],
    ["done", [pod("0", failed, EARLY), pod("0", { phase: "Succeeded" }, LATE)]],
    ["failed", [pod("0", { phase: "Succeeded" }, EARLY), pod("0", failed, LATE)]],
    ["failed", [pod("0", { phase: "Running" }, EARLY), pod("0", failed, LATE)]],
    ["active", [pod("0", failed, EARLY), pod("0", { phase: "Running" }, LATE)]],
    ["unfinished", [pod("0", failed, EARLY), pod("0", { phase: "Running" }, { ...LATE, deletionTimestamp })]],
    ["failed", [pod("0", failed), pod("0", { phase: "Running" }, { creationTimestamp: "" })]],
  ];
  for (const type of ["Failed", "Complete"]) {
    const ended = job({ status: { conditions: [condition(type, "2025-11-20T10:00:00Z")] } });
    for (const [state, pods] of cases) {
      for (const order of [pods, pods.toReversed()]) {
        assert.equal(liveStates(1, ended, order).states[0], state, `${type} ${JSON.stringify(pods)}`);
      }
    }
  }
});

Deno.test("volume states: on a suspended Job only a volume whose newest pod still runs is active", () => {
  const suspended = job({ spec: { suspend: true } });
  const stateOf = (...pods: ReturnType<typeof pod>[]) => liveStates(1, suspended, pods).states[0];
  assert.equal(stateOf(pod("0", { phase: "Running" })), "active");
  assert.equal(stateOf(pod("0", { phase: "Running" }, { deletionTimestamp: "t" })), "pending");
  assert.equal(stateOf(pod("0", failed)), "pending");
  assert.equal(stateOf(pod("0", { phase: "Succeeded" })), "pending");
  assert.equal(stateOf(pod("0", { phase: "Running" }, EARLY), pod("0", failed, LATE)), "pending");
  assert.equal(stateOf(), "pending");
});

Deno.test("volume states: index sets outrank pods on an ended Job, and a Job that is being ended still runs", () => {
  const sets = { completedIndexes: "0", failedIndexes: "1" };
  const pods = [pod("0", failed), pod("1"), pod("2", failed)];
  assert.deepEqual(liveStates(4, job({ status: { ...sets, ...FAILED_JOB } }), pods).states, [
    "done",
    "failed",
    "failed",
    "unfinished",
  ]);
  const ending = { conditions: [condition("FailureTarget", "2025-11-20T10:00:00Z")] };
  const states = liveStates(4, job({ status: { ...sets, ...ending } }), pods);
  assert.deepEqual(states.states, ["done", "failed", "active", "pending"]);
  assert.equal(states.isFinal, true);
  assert.equal(liveStates(1, job(), []).isFinal, false);
  assert.equal(liveStates(1, job({ status: { conditions: [condition("Failed", "t", "False")] } }), []).isFinal, false);
});

Deno.test("volume states: a succeeded pod of a running Job makes no volume active", () => {
  const pods = [pod("0", { phase: "Succeeded" }), pod("1", { phase: "Succeeded" }, EARLY), pod("1", failed, LATE)];
  assert.deepEqual(liveStates(2, job(), pods).states, ["pending", "active"]);
});

Deno.test("volume states: an active volume says what its newest pod waits for", () => {
  const waiting = (reason: string, name = "wrapper") => ({
    phase: "Pending",
    containerStatuses: [{ name, state: { waiting: { reason, message: "m" } } }],
  });
  const campaign = job({ status: { failedIndexes: "2" } });
  const states = liveStates(6, campaign, [
    pod("0", waiting("ImagePullBackOff")),
    pod("1", waiting("ImagePullBackOff"), EARLY),
    pod("1", { phase: "Running" }, LATE),
    pod("2", waiting("ErrImagePull")),
    pod("3", waiting("CrashLoopBackOff", "side")),
    pod("4", waiting("ErrImagePull"), { deletionTimestamp: "t" }),
    pod("5", { ...waiting("ErrImagePull"), phase: "Failed" }),
  ]);
  assert.deepEqual(states.containerWaiting(0), { reason: "ImagePullBackOff", message: "m" });
  for (const index of [1, 2, 3, 4, 5]) assert.equal(states.containerWaiting(index), null, `${index}`);
});
