import assert from "node:assert/strict";
import { indexWarmups, warmupOf, warmupPhase } from "@/lib/campaigns/projection/warmup.ts";
import { condition, job, names, pod, terminated, warmupJob } from "./cluster_fixtures.ts";

Deno.test("warm-up: matched by namespace and pipeline, the first of several, never without a pipeline", () => {
  const first = warmupJob({ metadata: { name: "first" } });
  const index = indexWarmups([
    warmupJob({
      metadata: { name: "nameless" },
      labels: { [names.pipeline]: "" },
    }),
    job({ metadata: { name: "a-campaign" } }),
    first,
    warmupJob({ metadata: { name: "second" } }),
  ]);
  assert.equal(index.find("batch-default", "lion-v2"), first);
  assert.equal(index.find("other", "lion-v2"), null);
  assert.equal(index.find("batch-default", ""), null);
  assert.equal(index.find("batch-default", "__proto__"), null);
});

Deno.test("warm-up: its phase follows the Job", () => {
  const complete = condition("Complete", "t");
  const failed = condition("Failed", "t");
  const cases: [string, object][] = [
    ["pending", {}],
    ["running", { active: 1 }],
    ["succeeded", { conditions: [failed, complete], active: 1 }],
    ["failed", { conditions: [failed], active: 1 }],
    ["pending", { conditions: [{ ...failed, status: "False" }] }],
  ];
  for (const [phase, status] of cases) {
    assert.equal(
      warmupPhase(warmupJob({ status })),
      phase,
      JSON.stringify(status),
    );
  }
  assert.equal(warmupPhase(null), "missing");
});

Deno.test("warm-up: only a failed one has a reason, and only when its newest pod has one", () => {
  const failing = warmupJob({
    status: { conditions: [condition("Failed", "t")] },
  });
  const told = pod(null, {
    containerStatuses: [
      terminated("warmup", { exitCode: 13, message: "no space" }),
    ],
  });
  const silent = pod(null, {}, { creationTimestamp: "2025-11-20T09:00:00Z" });
  const reason = { stage: null, permanent: null, error: "no space" };
  assert.deepEqual(warmupOf(failing, [told]), { phase: "failed", reason });
  assert.deepEqual(warmupOf(failing, [told, silent]), { phase: "failed" });
  assert.deepEqual(warmupOf(failing), { phase: "failed" });
  assert.deepEqual(warmupOf(warmupJob(), [told]), { phase: "pending" });
});

Deno.test("warm-up: a running one says why its newest pod cannot start", () => {
  const waiting = (name: string) => ({
    phase: "Pending",
    [name === "warmup" ? "containerStatuses" : "initContainerStatuses"]: [
      { name, state: { waiting: { reason: "ErrImagePull", message: null } } },
    ],
  });
  const containerWaiting = { reason: "ErrImagePull", message: null };
  const running = warmupJob({ status: { active: 1 } });
  for (const name of ["warmup", "fetch-models"]) {
    assert.deepEqual(warmupOf(running, [pod(null, waiting(name))]), { phase: "running", containerWaiting });
  }
  const started = pod(null, { phase: "Running" }, { creationTimestamp: "2025-11-20T09:00:00Z" });
  assert.deepEqual(warmupOf(running, [pod(null, waiting("warmup")), started]), { phase: "running" });
  assert.deepEqual(warmupOf(warmupJob(), [pod(null, waiting("warmup"))]), { phase: "pending" });
});
