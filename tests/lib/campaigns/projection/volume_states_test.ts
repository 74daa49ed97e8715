import assert from "node:assert/strict";
import { liveStates } from "@/lib/campaigns/projection/volume_states.ts";
import { job, pod, terminated } from "./cluster_fixtures.ts";

const crashed = {
  containerStatuses: [terminated("wrapper", { exitCode: 1, message: "boom" })],
};
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
