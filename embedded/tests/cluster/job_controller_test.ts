import fc from "fast-check";
import assert from "node:assert/strict";
import { campaignJob, warmupJob } from "@/embedded/cluster/campaign_objects.ts";
import { RESOURCES } from "@/embedded/cluster/discovery.ts";
import { reconcileJob } from "@/embedded/cluster/job_controller.ts";
import {
  type Job,
  type Pod,
  type PodStatus,
  readIndexes,
  timestamp,
  writeIndexes,
} from "@/embedded/cluster/kube_objects.ts";
import { sampleCampaigns } from "@/embedded/cluster/sample_campaigns.ts";
import { ClusterStore } from "@/embedded/cluster/store.ts";
import { createObject } from "@/embedded/cluster/writes.ts";
import { CONVENTIONS, START } from "./sample_cluster.ts";

const SUBMISSION = { namespace: "n", conventions: CONVENTIONS, archiveUrl: "http://127.0.0.1:9000" };

/** One Job of three indexes with a clock of its own; pods end when the test says so. */
function bench(spec: Partial<Job["spec"]> = {}, warmup = false) {
  let clock = START;
  const store = new ClusterStore(() => clock, () => 0.5);
  const [campaign] = sampleCampaigns(1);
  const made = warmup ? warmupJob(campaign.pipeline, SUBMISSION) : campaignJob(campaign, SUBMISSION);
  const indexed = warmup ? {} : { completions: 3, maxFailedIndexes: 3, parallelism: 3, suspend: false };
  const place = { resource: RESOURCES.jobs, namespace: "n", dryRun: false };
  const { name } = createObject(store, place, made, CONVENTIONS).metadata;
  const job = () => {
    const found = store.get("jobs", "n", name);
    assert.ok(found);
    return found;
  };
  store.replace("jobs", { ...job(), spec: { ...job().spec, ...indexed, ...spec } });
  const pods = () => store.list("pods");
  return {
    store,
    job,
    pods,
    look(seconds = 1) {
      clock += seconds * 1000;
      reconcileJob(store, job(), pods(), { seed: 1, speed: 1 });
    },
    end(pod: Pod, exitCode: number, more: Partial<PodStatus> = {}) {
      const [{ name, image }] = pod.spec.containers;
      const time = timestamp(clock);
      const terminated = {
        exitCode,
        reason: exitCode === 0 ? "Completed" : "Error",
        startedAt: time,
        finishedAt: time,
      };
      const status = { name, image, imageID: image, ready: false, started: false, restartCount: 0, lastState: {} };
      store.replace("pods", {
        ...pod,
        status: {
          phase: exitCode === 0 ? "Succeeded" : "Failed",
          containerStatuses: [{ ...status, state: { terminated } }],
          ...more,
        },
      });
    },
    conditions: () => (job().status.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  };
}

Deno.test("Job controller: three completions end the Job as soon as the last is seen", () => {
  const { job, pods, look, end, conditions } = bench();
  look();
  assert.equal(job().status.active, 3);
  assert.deepEqual(pods().map((pod) => pod.spec.hostname), [0, 1, 2].map((index) => `${job().metadata.name}-${index}`));
  const [first, ...others] = pods();
  end(first, 0);
  look();
  assert.equal(job().status.completedIndexes, "0");
  assert.equal(job().status.succeeded, 1);
  assert.deepEqual(conditions(), []);
  for (const pod of others) end(pod, 0);
  look();
  assert.equal(job().status.completedIndexes, "0-2");
  assert.equal(job().status.succeeded, 3);
  assert.deepEqual(job().status.uncountedTerminatedPods, {});
  assert.ok(pods().every((pod) => pod.metadata.finalizers === undefined));
  assert.deepEqual(conditions(), ["SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"]);
  assert.equal(job().status.failedIndexes, "");
});

Deno.test("Job controller: failures go through uncountedTerminatedPods before they are counted", () => {
  const { job, pods, look, end, conditions } = bench({ completions: 1, parallelism: 1, backoffLimitPerIndex: 0 });
  look();
  end(pods()[0], 1);
  look();
  assert.deepEqual(job().status.uncountedTerminatedPods, { failed: [pods()[0].metadata.uid] });
  assert.equal(job().status.failed, undefined);
  assert.equal(job().status.failedIndexes, "0");
  assert.deepEqual(conditions(), ["FailureTarget=True FailedIndexes"]);
  look();
  assert.equal(job().status.failed, 1);
  assert.equal(pods()[0].metadata.finalizers, undefined);
  assert.deepEqual(conditions(), ["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"]);
});

Deno.test("Job controller: too many failed indexes end the Job, once the other pods are gone", () => {
  const { store, job, pods, look, end, conditions } = bench({ maxFailedIndexes: 0 });
  look();
  const [first, ...others] = pods();
  end(first, 13);
  look();
  assert.deepEqual(conditions(), ["FailureTarget=True MaxFailedIndexesExceeded"]);
  assert.equal(job().status.active, undefined);
  assert.equal(job().status.terminating, 2);
  look();
  assert.equal(conditions().length, 1);
  for (const { metadata } of others) {
    const pod = store.get("pods", "n", metadata.name);
    assert.ok(pod?.metadata.deletionTimestamp);
    end(pod, 143);
  }
  look();
  look();
  assert.equal(job().status.failed, 3);
  assert.deepEqual(conditions().slice(1), ["Failed=True MaxFailedIndexesExceeded"]);
});

Deno.test("Job controller: a permanent exit fails its index at once, the others continue", () => {
  const { job, pods, look, end, conditions } = bench();
  look();
  const [first, second, third] = pods();
  end(first, 0);
  end(second, 13);
  look();
  assert.equal(job().status.failedIndexes, "1");
  assert.equal(job().status.active, 1);
  end(third, 0);
  look();
  look();
  assert.equal(job().status.completedIndexes, "0,2");
  assert.deepEqual(conditions(), ["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"]);
  assert.equal(job().status.completionTime, undefined);
});

Deno.test("Job controller: retries wait 10, 20 and 40 s, then the index has failed", () => {
  const { job, pods, look, end } = bench({ completions: 1, parallelism: 1 });
  look();
  for (const [attempt, wait] of [10, 20, 40].entries()) {
    end(pods().find((pod) => pod.status.phase === "Pending")!, 1);
    look(wait - 1);
    assert.equal(pods().length, attempt + 1);
    look(1);
    assert.equal(pods().length, attempt + 2);
    const retry = pods().find((pod) => pod.status.phase === "Pending");
    assert.equal(retry?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"], String(attempt + 1));
  }
  end(pods().find((pod) => pod.status.phase === "Pending")!, 1);
  look();
  assert.equal(job().status.failedIndexes, "0");
  look(600);
  assert.equal(pods().length, 4);
  assert.equal(job().status.failed, 4);
});

Deno.test("Job controller: a disruption costs no retry and counts as no failure, but waits as one", () => {
  const { job, pods, look, end } = bench({ completions: 1, parallelism: 1, backoffLimitPerIndex: 0 });
  look();
  const disruption = { type: "DisruptionTarget", status: "True" as const, lastTransitionTime: timestamp(START) };
  end(pods()[0], 137, { reason: "Evicted", conditions: [disruption] });
  look();
  assert.equal(pods().length, 1);
  look(9);
  assert.equal(pods().length, 2);
  assert.equal(job().status.failedIndexes, "");
  assert.equal(job().status.failed, undefined);
});

Deno.test("Job controller: suspending ends the pods, resuming starts new ones, with their conditions", () => {
  const { store, job, pods, look, end, conditions } = bench();
  look();
  store.replace("jobs", { ...job(), spec: { ...job().spec, suspend: true } });
  look();
  assert.equal(job().status.active, undefined);
  assert.equal(job().status.terminating, 3);
  assert.ok(pods().every((pod) => pod.metadata.deletionTimestamp && pod.metadata.finalizers === undefined));
  assert.deepEqual(conditions(), ["Suspended=True JobSuspended"]);
  for (const pod of pods()) end(pod, 143);
  look();
  assert.equal(job().status.terminating, 0);
  assert.equal(job().status.failed, undefined);
  for (const pod of pods()) store.delete("pods", "n", pod.metadata.name);
  const started = job().status.startTime;
  look(60);
  store.replace("jobs", { ...job(), spec: { ...job().spec, suspend: false } });
  look();
  assert.deepEqual(conditions(), ["Suspended=False JobResumed"]);
  assert.equal(job().status.active, 3);
  assert.notEqual(job().status.startTime, started);
});

Deno.test("Job controller: an index whose pod is terminating gets no other pod", () => {
  const { store, job, pods, look, end } = bench({ completions: 1, parallelism: 1 });
  look();
  store.replace("jobs", { ...job(), spec: { ...job().spec, suspend: true } });
  look();
  store.replace("jobs", { ...job(), spec: { ...job().spec, suspend: false } });
  look();
  assert.equal(pods().length, 1);
  assert.equal(job().status.terminating, 1);
  end(pods()[0], 143);
  look();
  const [replacement] = pods().filter((pod) => pod.status.phase === "Pending");
  assert.equal(replacement.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"], "0");
});

Deno.test("Job controller: never more pods than parallelism, lowest indexes first", () => {
  const { job, pods, look, end } = bench({ parallelism: 1 });
  look();
  look();
  assert.deepEqual(pods().map((pod) => pod.spec.hostname?.slice(-2)), ["-0"]);
  end(pods()[0], 0);
  look();
  assert.equal(job().status.active, 1);
  assert.deepEqual(pods().filter((pod) => pod.status.phase === "Pending").map((pod) => pod.spec.hostname?.slice(-2)), [
    "-1",
  ]);
});

Deno.test("Job controller: a Job without indexes fails when its retries are used up", () => {
  const { job, pods, look, end, conditions } = bench({}, true);
  look();
  end(pods()[0], 13);
  look();
  look();
  assert.deepEqual(conditions(), ["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]);
  assert.equal(job().status.failed, 1);
  assert.equal(job().status.failedIndexes, undefined);
});

Deno.test("indexes: written as ranges, read back as they were", () => {
  assert.equal(writeIndexes(new Set([7, 1, 3, 4, 5])), "1,3-5,7");
  assert.equal(writeIndexes(new Set([0, 1])), "0,1");
  assert.equal(writeIndexes(new Set()), "");
  fc.assert(fc.property(fc.uniqueArray(fc.nat(200)), (indexes) => {
    assert.deepEqual(readIndexes(writeIndexes(new Set(indexes))), new Set(indexes.sort((a, b) => a - b)));
  }));
});
