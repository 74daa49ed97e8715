import assert from "node:assert/strict";
import {
  MAX_INDEX_RANGES,
  readCampaignRecord,
  readIndexRanges,
  readJob,
  readPod,
  readUnfinishedPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { conventions, job, jobObject, names, podObject, terminated } from "./cluster_fixtures.ts";

Deno.test("Job: both labels make a campaign, and a preset only sees its own", () => {
  const cases: [object, string][] = [
    [{}, "campaign"],
    [{ app: conventions.warmupApp }, "warmup"],
    [{ app: "something" }, "other"],
    [{ [names.managedBy]: "hand" }, "unmanaged"],
    [{ [names.managedBy]: undefined }, "unmanaged"],
    [{ app: conventions.warmupApp, [names.managedBy]: undefined }, "unmanaged"],
    [{ app: "something", [names.managedBy]: undefined }, "other"],
  ];
  for (const [labels, kind] of cases) {
    assert.equal(readJob(jobObject({ labels }), conventions)?.kind, kind, JSON.stringify(labels));
  }
  assert.equal(readJob(jobObject(), CONVENTIONS.htrflow)?.kind, "other");
});

Deno.test("Job: a campaign without its label is called by its name, without pipeline label it has none", () => {
  const read = job({ labels: { [names.campaign]: undefined, [names.pipeline]: undefined } });
  assert.equal(read.campaign, "lund");
  assert.equal(read.pipeline, "");
});

Deno.test("Job: lists that are null and members of a wrong type do no harm", () => {
  const read = job({
    metadata: { labels: null, creationTimestamp: 5 },
    spec: { completions: "4", suspend: "true", template: 7 },
    status: { active: "2", conditions: null, completedIndexes: 3, startTime: [] },
  });
  assert.equal(read.kind, "other");
  assert.equal(read.completions, null);
  assert.equal(read.suspended, false);
  assert.equal(read.active, 0);
  assert.deepEqual(read.conditions, []);
  assert.equal(read.startedAt, null);
  assert.equal(readJob({ metadata: { name: "x" } }, conventions), null);
});

Deno.test("pod: its index is a decimal label, anything else is no index", () => {
  const cases: [string | null, number | null][] = [
    ["7", 7],
    ["040", 40],
    ["-1", null],
    ["x", null],
    ["", null],
    ["1.0", null],
    [null, null],
  ];
  for (const [label, index] of cases) {
    assert.equal(readPod(podObject(label))?.index, index, `${label}`);
  }
});

Deno.test("pod: an unfinished one has not succeeded", () => {
  assert.equal(readUnfinishedPod(podObject("1", { phase: "Succeeded" })), null);
  assert.equal(readUnfinishedPod(podObject("1", { phase: "Failed" }))?.phase, "Failed");
  assert.equal(readPod(podObject("1", { phase: "Succeeded" }))?.phase, "Succeeded");
});

Deno.test("pod: init containers that cannot fail it are left out", () => {
  const failed = terminated("init", { exitCode: 2, message: "m" });
  const initOf = (status: object, spec: object = {}) => {
    const read = readPod({ ...podObject("1", { initContainerStatuses: [failed], ...status }), spec });
    return read?.initContainers.map(({ container }) => container);
  };
  const running = { name: "wrapper", state: { running: {} } };
  assert.deepEqual(initOf({}), ["init"]);
  assert.deepEqual(initOf({}, { initContainers: [{ name: "init", restartPolicy: "Always" }] }), []);
  assert.deepEqual(initOf({}, { initContainers: [{ name: "init", restartPolicy: "Never" }] }), ["init"]);
  assert.deepEqual(initOf({}, { initContainers: [{ name: "other", restartPolicy: "Always" }, null, 7] }), ["init"]);
  assert.deepEqual(initOf({ initContainerStatuses: [{ ...failed, state: { running: {} }, lastState: failed }] }), []);
  assert.deepEqual(initOf({ containerStatuses: [running] }), [], "regular init containers have succeeded by then");
  assert.deepEqual(initOf({ containerStatuses: [terminated("wrapper", { exitCode: 1, startedAt: "t" })] }), []);
  assert.deepEqual(initOf({ containerStatuses: [terminated("wrapper", { exitCode: 137 })] }), ["init"]);
});

Deno.test("pod: what its containers wait for is read unless it is usual, and shortened", () => {
  const waiting = (name: string, reason: unknown, message: unknown = "m") => ({
    name,
    state: { waiting: { reason, message } },
  });
  const waits = (status: object) =>
    readPod(podObject("1", { phase: "Pending", ...status }))?.waits.map((wait) => [wait.container, wait.reason]);
  for (const reason of ["ContainerCreating", "PodInitializing", "", null, 7, undefined]) {
    assert.deepEqual(waits({ containerStatuses: [waiting("wrapper", reason)] }), [], String(reason));
  }
  const init = [waiting("gate", "ErrImagePull")];
  const both = { containerStatuses: [waiting("wrapper", "PodInitializing")], initContainerStatuses: init };
  assert.deepEqual(waits(both), [["gate", "ErrImagePull"]]);
  const begun = { containerStatuses: [{ name: "wrapper", state: { running: {} } }], initContainerStatuses: init };
  assert.deepEqual(waits(begun), [], "a sidecar that restarts keeps nothing from starting");
  const long = readPod(
    podObject("1", { containerStatuses: [waiting("wrapper", "R".repeat(900), "\u{1f600}".repeat(900))] }),
  );
  assert.deepEqual(long?.waits.map(({ reason, message }) => [reason, message]), [
    ["R".repeat(300), "\u{1f600}".repeat(300)],
  ]);
});

Deno.test("pod: only containers that ended are read, the present end before the last", () => {
  const read = readPod(podObject("1", {
    containerStatuses: [
      {
        name: "wrapper",
        state: { terminated: { exitCode: 1 } },
        lastState: { terminated: { message: "older" } },
      },
      { name: "side", state: { running: {} } },
      {
        name: "again",
        state: { waiting: {} },
        lastState: { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: "t" } },
      },
    ],
    initContainerStatuses: null,
  }));
  assert.deepEqual(read?.containers, [
    { container: "wrapper", isRunning: false, exitCode: 1, reason: "", finishedAt: null, message: null },
    { container: "again", isRunning: false, exitCode: 137, reason: "OOMKilled", finishedAt: "t", message: null },
  ]);
  assert.deepEqual(read?.initContainers, []);
});

Deno.test("pod: a trimmed pod reads the same as a full one", () => {
  const full = podObject("1", {
    reason: "Evicted",
    message: "the node was low on memory",
    containerStatuses: [terminated("wrapper", { exitCode: 1, message: "m", startedAt: "t", containerID: "c" })],
  });
  const trimmed = {
    metadata: full.metadata,
    status: {
      phase: "Running",
      reason: "Evicted",
      containerStatuses: [terminated("wrapper", { exitCode: 1, message: "m" })],
    },
  };
  assert.deepEqual(readPod(trimmed), readPod(full));
});

Deno.test("campaign ConfigMap: the Job's name is what follows the prefix", () => {
  const metadata = { namespace: "n", name: "campaign-lund", creationTimestamp: "t" };
  assert.deepEqual(readCampaignRecord({ metadata }, conventions), {
    namespace: "n",
    job: "lund",
    campaign: "lund",
    pipeline: "",
    createdAt: "t",
  });
  assert.equal(readCampaignRecord({ metadata: { namespace: "n", name: "other" } }, conventions), null);
});

function members(text: string | null | undefined, below = 20): number[] {
  const set = readIndexRanges(text);
  return Array.from({ length: below }, (_, index) => index).filter(set.has);
}

Deno.test("index ranges: single indexes, ranges and spaces are read", () => {
  const cases: [string | null | undefined, number[]][] = [
    ["", []],
    [null, []],
    [undefined, []],
    ["0", [0]],
    ["0-2,5", [0, 1, 2, 5]],
    [" 0 - 2 , 5 ", [0, 1, 2, 5]],
    ["5,0-2", [0, 1, 2, 5]],
    ["040,1", [1]],
    ["3-3", [3]],
    [",,7,", [7]],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(members(text), expected, `${text}`);
  }
  assert.ok(readIndexRanges("040").has(40));
});

Deno.test("index ranges: texts that are not ranges are skipped", () => {
  for (const piece of ["x", "-1", "1-", "5-2", "1-2-3", "1.5", "1e3", "0x4", "９", "9".repeat(30)]) {
    assert.deepEqual(members(`${piece},3`), [3], piece);
    assert.equal(readIndexRanges(`${piece},3`).size, 1, piece);
  }
});

Deno.test("index ranges: a huge range costs nothing and a text of endless ranges is cut", () => {
  const huge = readIndexRanges("0-999999999999999");
  assert.equal(huge.size, 1_000_000_000_000_000);
  assert.ok(huge.has(4_000_000_000));
  const text = Array.from({ length: MAX_INDEX_RANGES + 5 }, (_, i) => i * 2)
    .join(",");
  assert.equal(readIndexRanges(text).size, MAX_INDEX_RANGES);
});
