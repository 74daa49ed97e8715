import assert from "node:assert/strict";
import type { BatchJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { labelNames } from "@/lib/campaigns/projection/conventions.ts";
import { listedCampaigns, SHARED_READ_MS } from "@/lib/campaigns/source/listed_campaigns.ts";
import { type ClusterConnection, type ClusterRequest, ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import {
  condition,
  conventions,
  jobObject,
  names,
  podObject,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

type Objects = Readonly<Record<string, unknown>>;

/** A connection to objects by their paths: lists as arrays, objects as they are. */
function fakeCluster(objects: Objects) {
  const seen: ClusterRequest[] = [];
  const connection: ClusterConnection = {
    send(request) {
      seen.push({ ...request, query: new URLSearchParams(request.query) });
      const selector = request.query?.get("labelSelector");
      const found = objects[selector ? `${request.path}?${selector}` : request.path];
      if (found === undefined) {
        const nothing = selector ? { items: null } : { kind: "Status", code: 404 };
        return answer(selector ? 200 : 404, nothing);
      }
      return answer(200, Array.isArray(found) ? { items: found } : found);
    },
  };
  const paths = () => seen.map(({ path }) => path);
  return { connection, seen, paths };
}

function answer(status: number, value: unknown) {
  return Promise.resolve({ status, body: new TextEncoder().encode(JSON.stringify(value)) });
}

function sourceOf(connection: ClusterConnection, options: { namespaces?: string[]; now?: () => number } = {}) {
  const { namespaces = ["batch-default"], now = () => 0 } = options;
  return listedCampaigns({ connection, conventions, namespaces, now });
}

const CORE = "/api/v1/namespaces/batch-default";
const JOBS = "/apis/batch/v1/namespaces/batch-default/jobs";
const PODS = `${CORE}/pods?batch.kubernetes.io/job-name=lund`;
const WARMUPS = `${JOBS}?app=campaign-warmup`;

function configMap(name: string, data: unknown, labels: object = {}): Record<string, unknown> {
  return {
    metadata: {
      namespace: "batch-default",
      name,
      creationTimestamp: "2025-11-20T08:00:00Z",
      uid: `uid-${name}`,
      resourceVersion: "1",
      labels: { [names.managedBy]: "converter", [names.campaign]: "lund-file", [names.pipeline]: "lion-v2", ...labels },
    },
    data,
  };
}

const STATUS = { phase: "Succeeded", volumesTotal: "2", volumesDone: "2", volumesFailed: "0" };

Deno.test("listed campaigns: five lists per namespace, those of records metadata alone, shared for two seconds", async () => {
  let now = 0;
  const { connection, seen } = fakeCluster({});
  const source = sourceOf(connection, { namespaces: ["batch-default", "other"], now: () => now });
  const [first, second] = await Promise.all([source.list(), source.list()]);
  assert.equal(first, second);
  assert.deepEqual(first, { jobs: [], warmups: [], records: [], statuses: [], pipelines: [] });
  assert.equal(seen.length, 10);
  const labels = labelNames(conventions);
  const records = seen.filter(({ headers }) => headers?.Accept?.includes("PartialObjectMetadataList"));
  assert.deepEqual(records.map(({ query }) => query?.get("labelSelector")), [
    `${labels.managedBy}=converter,${labels.campaign},${labels.kind}!=status`,
    `${labels.managedBy}=converter,${labels.campaign},${labels.kind}!=status`,
  ]);
  now = SHARED_READ_MS;
  await source.list();
  assert.equal(seen.length, 10);
  now = SHARED_READ_MS + 1;
  await source.list();
  assert.equal(seen.length, 20);
});

Deno.test("listed campaigns: one list that fails stops the others and is a 502, and the next reader lists again", async () => {
  const { connection } = fakeCluster({});
  let broken = true;
  const stopped: AbortSignal[] = [];
  const source = sourceOf({
    send(request) {
      if (!broken) return connection.send(request);
      if (request.path === JOBS) return Promise.reject(new ClusterUnavailable("away"));
      const { signal } = request;
      assert.ok(signal);
      stopped.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new ClusterUnavailable("stop"))));
    },
  });
  await assert.rejects(source.list(), ClusterUnavailable);
  assert.equal(stopped.length, 3);
  assert.ok(stopped.every(({ aborted }) => aborted));
  broken = false;
  assert.deepEqual((await source.list()).jobs, []);
});

Deno.test("listed campaigns: how long they have not been known is counted from the last list before one that failed", async () => {
  let now = 1000;
  let isAway = true;
  const { connection } = fakeCluster({});
  const send: ClusterConnection["send"] = (request) =>
    isAway ? Promise.reject(new ClusterUnavailable("away")) : connection.send(request);
  const source = sourceOf({ send }, { now: () => now });
  assert.equal(source.lastKnown(), "untried");
  await assert.rejects(source.list(), ClusterUnavailable);
  assert.equal(source.lastKnown(), "failed");
  isAway = false;
  await source.list();
  now += 90_000;
  assert.equal(source.lastKnown(), 0, "a site that is not visited is no fault");
  isAway = true;
  await assert.rejects(source.list(), ClusterUnavailable);
  assert.equal(source.lastKnown(), 90_000);
});

Deno.test("listed campaigns: objects without a name, of another kind or with hostile content cost only themselves", async () => {
  const selectors = {
    jobs: `${JOBS}?app=campaign-batch`,
    pipelines: `${CORE}/configmaps?${names.managedBy}=converter,${names.pipeline},!${names.campaign}`,
    statuses: `${CORE}/configmaps?${names.managedBy}=converter,${names.campaign},${names.kind}=status`,
  };
  const { connection } = fakeCluster({
    [selectors.jobs]: [
      null,
      7,
      { metadata: null },
      jobObject({ metadata: { name: "__proto__" } }),
      jobObject({
        metadata: { name: "bad" },
        spec: { template: { spec: { volumes: null } } },
        status: { conditions: 5 },
      }),
      jobObject({ labels: { [names.managedBy]: "somebody" } }),
    ],
    [selectors.pipelines]: [
      configMap("pipeline-a", { "pipeline.yaml": "steps: [{step: QualityPrediction}]" }),
      configMap("pipeline-b", { "pipeline.yaml": "[".repeat(60_000) }),
      configMap("pipeline-c", { "pipeline.yaml": "\ud800: &a [*a]" }),
      configMap("pipeline-d", null),
      configMap("else", { "pipeline.yaml": "steps: []" }),
    ],
    [selectors.statuses]: [
      configMap("campaign-a-status", { ...STATUS, failedVolumes: '[{"id":"x","reason":"y"}]' }),
      configMap("campaign-b-status", ["phase"]),
      configMap("campaign-c-status", { phase: 7, volumesDone: "-" }),
      configMap("pipeline-status", STATUS),
    ],
  });
  const { jobs, pipelines, statuses } = await sourceOf(connection).list();
  assert.deepEqual(jobs.map(({ name }) => name), ["__proto__", "bad"]);
  assert.deepEqual(pipelines.map(({ pipeline, scoresQuality }) => [pipeline, scoresQuality]), [
    ["a", true],
    ["b", false],
    ["c", false],
    ["d", false],
  ]);
  assert.deepEqual(statuses.map(({ job, phase, failures }) => [job, phase, failures.size]), [
    ["a", "Succeeded", 0],
    ["b", null, 0],
    ["c", null, 0],
  ]);
});

Deno.test("listed campaigns: a pipeline's document is read again when its map changes", async () => {
  let now = 0;
  const map = configMap("pipeline-a", { "pipeline.yaml": "steps: [{step: QualityPrediction}]" });
  const selector = `${CORE}/configmaps?${names.managedBy}=converter,${names.pipeline},!${names.campaign}`;
  const objects: Record<string, unknown> = { [selector]: [map] };
  const source = sourceOf(fakeCluster(objects).connection, { now: () => now });
  const scoring = async () => {
    now += 10_000;
    return (await source.list()).pipelines.map(({ scoresQuality }) => scoresQuality);
  };
  assert.deepEqual(await scoring(), [true]);
  assert.deepEqual(await scoring(), [true]);
  objects[selector] = [{
    metadata: { namespace: "batch-default", name: "pipeline-a", uid: "uid-pipeline-a", resourceVersion: "2" },
    data: { "pipeline.yaml": "steps: []" },
  }];
  assert.deepEqual(await scoring(), [false]);
  objects[selector] = [
    { metadata: { namespace: "batch-default", name: "pipeline-x" }, data: { "pipeline.yaml": "steps: []" } },
    {
      metadata: { namespace: "batch-default", name: "pipeline-y" },
      data: { "pipeline.yaml": "steps: [{step: qualityprediction}]" },
    },
  ];
  assert.deepEqual(await scoring(), [false, true]);
});

Deno.test("listed campaigns: a live campaign reads the maps its Job mounts, its pods and its warm-up", async () => {
  const warmup = jobObject({
    metadata: { name: "warmup-lion-v2" },
    labels: { app: conventions.warmupApp },
    status: { conditions: [condition("Complete", "2025-11-20T08:00:00Z")] },
  });
  const { connection, seen } = fakeCluster({
    [`${JOBS}/lund`]: jobObject(),
    [`${CORE}/configmaps/campaign-lund`]: configMap("campaign-lund", { "volumes.txt": "a\thttps://x\n\nb\n" }),
    [`${CORE}/configmaps/pipeline-lion-v2`]: configMap("p", { "pipeline.yaml": "steps: [{step: QualityPrediction}]" }),
    [PODS]: [podObject("0"), podObject("1", { phase: "Succeeded" }), null],
    [WARMUPS]: [warmup],
  });
  const campaign = await sourceOf(connection).campaign("batch-default", "lund");
  assert.ok(campaign?.kind === "live");
  assert.equal(campaign.volumes.count, 2);
  assert.deepEqual(campaign.pods.map(({ index }) => index), [0]);
  assert.equal(campaign.pipeline.scoresQuality, true);
  assert.equal(campaign.warmup?.name, "warmup-lion-v2");
  const pods = seen.find(({ path }) => path.endsWith("/pods"));
  assert.equal(pods?.query?.get("fieldSelector"), "status.phase!=Succeeded");
  assert.equal(pods?.query?.get("limit"), "250");
});

Deno.test("listed campaigns: a Job that lacks only the label managed-by is not listed, but reported", async () => {
  const unmanaged = (name: string, labels: object = {}) =>
    jobObject({ metadata: { name }, labels: { [names.managedBy]: undefined, ...labels } });
  const { connection } = fakeCluster({
    [`${JOBS}?app=campaign-batch`]: [unmanaged("forgotten"), jobObject(), unmanaged("foreign", { app: "something" })],
    [WARMUPS]: [unmanaged("warmup", { app: conventions.warmupApp })],
  });
  const reported: string[] = [];
  const unlisted = ({ name }: BatchJob) => void reported.push(name);
  const source = listedCampaigns({ connection, conventions, namespaces: ["batch-default"], now: () => 0, unlisted });
  const { jobs, warmups } = await source.list();
  assert.deepEqual([jobs.map(({ name }) => name), warmups, reported], [["lund"], [], ["forgotten", "warmup"]]);
});

Deno.test("listed campaigns: succeeded pods are read for an ended Job that did not count all of its volumes", async () => {
  const ended = { conditions: [condition("Failed", "2025-11-20T09:00:00Z")] };
  const podsOf = async (status: object) => {
    const { connection, seen } = fakeCluster({
      [`${JOBS}/lund`]: jobObject({ status }),
      [PODS]: [
        podObject("0", { phase: "Succeeded" }, { name: "lund-0-b" }),
        podObject("1", { phase: "Failed" }, { name: "lund-1-a" }),
        podObject("2", { phase: "Succeeded" }, { name: "lund-2-a" }),
      ],
    });
    const campaign = await sourceOf(connection).campaign("batch-default", "lund");
    assert.ok(campaign?.kind === "live");
    const selectors = seen.map(({ query }) => query?.get("fieldSelector")).filter(Boolean);
    return [campaign.pods.map(({ name }) => name), selectors.length];
  };
  assert.deepEqual(await podsOf({ ...ended, completedIndexes: "0" }), [["lund-1-a", "lund-2-a"], 2]);
  assert.deepEqual(await podsOf({ ...ended, completedIndexes: "0-2", failedIndexes: "3" }), [["lund-1-a"], 1]);
  assert.deepEqual(await podsOf({ completedIndexes: "0" }), [["lund-1-a"], 1]);
});

Deno.test("listed campaigns: maps that are gone, not mounted, or have names that lead elsewhere are missing", async () => {
  for (const name of ["gone", "../secrets/x", "a/b", "..", "%2e%2e", ""]) {
    const volumes = [{ name: "campaign", configMap: { name } }, { name: "pipeline", configMap: { name } }];
    const job = jobObject({ spec: { completions: 2, template: { spec: { volumes } } } });
    const { connection, paths } = fakeCluster({ [`${JOBS}/lund`]: job });
    const campaign = await sourceOf(connection).campaign("batch-default", "lund");
    assert.equal(campaign?.volumes.count, 0);
    assert.deepEqual(campaign?.pipeline.steps, []);
    assert.deepEqual(paths().filter((path) => path.includes("configmaps") && !path.endsWith("/gone")), []);
  }
});

Deno.test("listed campaigns: a Job that is not a campaign is absent, and the record of its name is returned", async () => {
  const foreign = jobObject({ labels: { app: "something" } });
  const record = configMap("campaign-lund", { "volumes.txt": "a\nb\n" });
  const status = configMap("campaign-lund-status", STATUS, { [names.kind]: "status" });
  const all: Objects = {
    [`${JOBS}/lund`]: foreign,
    [`${CORE}/configmaps/campaign-lund`]: record,
    [`${CORE}/configmaps/campaign-lund-status`]: status,
    [`${CORE}/configmaps/pipeline-lion-v2`]: configMap("p", { "pipeline.yaml": "steps: [{step: Segmentation}]" }),
  };
  const reaped = await sourceOf(fakeCluster(all).connection).campaign("batch-default", "lund");
  assert.ok(reaped?.kind === "reaped");
  assert.equal(reaped.volumes.count, 2);
  assert.deepEqual(reaped.pipeline.steps, ["Segmentation"]);

  const withStatus = (data: unknown): Objects => ({
    ...all,
    [`${CORE}/configmaps/campaign-lund-status`]: configMap("campaign-lund-status", data),
  });
  const { [`${CORE}/configmaps/campaign-lund`]: _record, ...noRecord } = all;
  for (const objects of [{ [`${JOBS}/lund`]: foreign }, noRecord, withStatus({ phase: "Weird" }), withStatus(null)]) {
    assert.equal(await sourceOf(fakeCluster(objects).connection).campaign("batch-default", "lund"), null);
  }
});

Deno.test("listed campaigns: readers of one campaign share its reads, and nothing in a response is older than it may be", async () => {
  let now = 0;
  const { connection, paths } = fakeCluster({ [`${JOBS}/lund`]: jobObject(), [PODS]: [podObject("0")] });
  const source = sourceOf(connection, { now: () => now });
  const podReads = () => paths().filter((path) => path.endsWith("/pods")).length;
  const warmupReads = () => paths().filter((path) => path === JOBS).length;
  await Promise.all([source.pods("batch-default", "lund"), source.pods("batch-default", "lund")]);
  assert.equal(podReads(), 1);
  now = 1900;
  const [a, b] = await Promise.all([
    source.campaign("batch-default", "lund"),
    source.campaign("batch-default", "lund"),
    source.campaign("batch-default", "other"),
  ]);
  assert.equal(a, b);
  assert.deepEqual([podReads(), warmupReads()], [2, 1]);
  now = 3800;
  assert.equal(await source.campaign("batch-default", "lund"), a);
  now = 3901;
  assert.notEqual(await source.campaign("batch-default", "lund"), a);
  assert.deepEqual([podReads(), warmupReads()], [3, 2]);
});
