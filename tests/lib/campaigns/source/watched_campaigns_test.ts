import assert from "node:assert/strict";
import { listedCampaigns } from "@/lib/campaigns/source/listed_campaigns.ts";
import { MAX_AGE_MS, WatchedCampaigns, type WatchLimits } from "@/lib/campaigns/source/watched_campaigns.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import type { BatchJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import {
  condition,
  conventions,
  jobObject,
  names,
  podObject,
  terminated,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { FaultyCluster, JOBS, MAPS, PODS } from "@/tests/lib/kubernetes/faulty_cluster.ts";
import { pipelineMap, recordMap, testCluster } from "@/tests/lib/kubernetes/test_cluster.ts";

interface Watching {
  readonly api: FaultyCluster;
  readonly source: WatchedCampaigns;
  readonly clock: { now: number };
  /** Requests other than watches since the last call. */
  reads(): string[];
  /** Reads until a condition holds. */
  until<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T>;
}

async function watching(
  use: (watching: Watching) => Promise<void>,
  options: {
    limits?: Partial<WatchLimits>;
    unlisted?: (job: BatchJob) => void;
    before?: (api: FaultyCluster) => void;
  } = {},
): Promise<void> {
  const api = new FaultyCluster();
  testCluster(api);
  options.before?.(api);
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const connection = await clusterConnection({ url: api.url }, { now });
  const source = new WatchedCampaigns({
    connection,
    conventions,
    namespaces: ["batch-default"],
    now,
    random: () => 0.5,
    unlisted: options.unlisted,
    limits: { snapshotMs: 0, ...options.limits },
  });
  let seen = 0;
  try {
    await use({
      api,
      source,
      clock,
      reads() {
        const paths = api.requests.slice(seen).filter(({ isWatch }) => !isWatch).map(({ path }) => path);
        seen = api.requests.length;
        return paths;
      },
      async until(ask, holds) {
        for (;;) {
          const answer = await ask();
          if (holds(answer)) return answer;
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      },
    });
  } finally {
    await source.close();
    await api.stop();
  }
}

/** All watches of the one namespace stand. */
const followed = (api: FaultyCluster) => api.until(() => api.watches === 6);

Deno.test("watched campaigns: a list is what listing the cluster gives, and costs no read", () =>
  watching(async ({ api, source, reads }) => {
    await followed(api);
    const connection = await clusterConnection({ url: api.url }, { now: Date.now });
    const listed = listedCampaigns({ connection, conventions, namespaces: ["batch-default"], now: Date.now });
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
    assert.deepEqual(plain(await source.list()), plain(await listed.list()));
    reads();
    const first = await source.list();
    assert.equal(await source.list(), first);
    assert.deepEqual(reads(), []);
    assert.ok(first.jobs.length === 2 && first.records.length === 3 && first.statuses.length === 2);
    assert.deepEqual(first.pipelines.map(({ pipeline, scoresQuality }) => [pipeline, scoresQuality]), [
      ["lion-v2", true],
      ["plain", false],
    ]);
    for (const name of ["lund", "reaped"]) {
      const [mine, theirs] = await Promise.all([
        source.campaign("batch-default", name),
        listed.campaign("batch-default", name),
      ]);
      const lines = ({ volumes }: NonNullable<typeof mine>) =>
        Array.from({ length: volumes.count }, (_, index) => volumes.line(index));
      assert.ok(mine && theirs);
      assert.deepEqual(lines(mine), lines(theirs));
      assert.deepEqual(plain({ ...mine, volumes: 0 }), plain({ ...theirs, volumes: 0 }));
      if (mine.kind === "reaped" && theirs.kind === "reaped") {
        assert.deepEqual(mine.campaign.status.failures, theirs.campaign.status.failures);
        assert.equal(mine.campaign.status.failures.get("b"), "torn");
      } else assert.equal(name, "lund");
    }
    assert.equal(await source.campaign("batch-default", "nobody"), null);
    assert.equal(await source.campaign("elsewhere", "lund"), null);
  }));

Deno.test("watched campaigns: an event makes another snapshot, and what it does not touch is the same object", () =>
  watching(async ({ api, source, until }) => {
    await followed(api);
    const before = await source.list();
    api.put(JOBS, jobObject({ status: { completedIndexes: "0-2", active: 1 } }));
    const after = await until(() => source.list(), (list) => list !== before);
    const job = (list: typeof before, name: string) => list.jobs.find((job) => job.name === name);
    assert.equal(job(after, "lund")?.completed.size, 3);
    assert.equal(job(after, "visby"), job(before, "visby"));
    assert.equal(after.records[0], before.records[0]);
    // Pods are not shown by a list.
    api.put(PODS, podObject("1", { reason: "Evicted" }));
    const evicted = () => source.pods("batch-default", "lund");
    await until(evicted, (pods) => pods.some(({ reason }) => reason === "Evicted"));
    assert.equal(await source.list(), after);
    api.remove(JOBS, "lund");
    await until(() => source.list(), ({ jobs }) => jobs.length === 1);
  }));

Deno.test("watched campaigns: a pod of a failed warm-up makes another snapshot, as the list shows its reason", () =>
  watching(async ({ api, source, until }) => {
    await followed(api);
    const before = await source.list();
    const warmup = before.warmups[0];
    const ended = { exitCode: 1, message: '{"error":"no space"}' };
    const pod = podObject(null, { phase: "Failed", containerStatuses: [terminated("warmup", ended)] }, { name: "w-1" });
    const labels = { "batch.kubernetes.io/job-name": warmup.name };
    api.put(PODS, { ...pod, metadata: { namespace: "batch-default", name: "w-1", labels } });
    await until(() => source.list(), (list) => list !== before);
    assert.equal((await source.pods("batch-default", warmup.name))[0].containers[0].exitCode, 1);
  }));

Deno.test("watched campaigns: the succeeded pods of a Job that ended early are read once, as a list gives them", () =>
  watching(async ({ api, source, reads, until }) => {
    await followed(api);
    api.put(PODS, podObject("3", { phase: "Succeeded" }, { name: "lund-3-a" }));
    api.put(PODS, podObject("3", { phase: "Failed" }, { name: "lund-3-b" }));
    const ended = { completedIndexes: "0", conditions: [condition("Failed", "2025-11-20T09:00:00Z")] };
    api.put(JOBS, jobObject({ status: ended }));
    const ask = () => source.campaign("batch-default", "lund");
    const live = await until(
      ask,
      (campaign) => campaign?.kind === "live" && campaign.pods.some(({ phase }) => phase === "Succeeded"),
    );
    assert.ok(live?.kind === "live");
    reads();
    assert.equal(await ask(), live);
    assert.deepEqual(reads(), []);
    const connection = await clusterConnection({ url: api.url }, { now: Date.now });
    const listed = listedCampaigns({ connection, conventions, namespaces: ["batch-default"], now: Date.now });
    const same = await listed.campaign("batch-default", "lund");
    assert.ok(same?.kind === "live");
    assert.deepEqual(live.pods, same.pods);
  }));

Deno.test("watched campaigns: a Job that lacks only the label managed-by is reported, not listed", async () => {
  const forgotten = { metadata: { name: "forgotten" }, labels: { [names.managedBy]: undefined } };
  const reported: string[] = [];
  await watching(async ({ api, source }) => {
    await followed(api);
    assert.ok((await source.list()).jobs.every(({ name }) => name !== "forgotten"));
    assert.deepEqual(reported, ["forgotten"]);
  }, { before: (api) => api.put(JOBS, jobObject(forgotten)), unlisted: ({ name }) => void reported.push(name) });
});

Deno.test("watched campaigns: documents are read once for a version of their map, by readers at the same time too", () =>
  watching(async ({ api, source, reads, until }) => {
    await followed(api);
    reads();
    const ask = () => source.campaign("batch-default", "lund");
    const [first, second] = await Promise.all([ask(), ask()]);
    assert.ok(first && first === second && first === await ask());
    assert.deepEqual(reads(), [`${MAPS}/campaign-lund`]);
    api.put(MAPS, recordMap("lund", "a\nb\nc\nd\ne\n"));
    const changed = await until(ask, (campaign) => campaign?.volumes.count === 5);
    assert.equal(changed?.pipeline, first.pipeline);
    assert.ok(reads().every((path) => path === `${MAPS}/campaign-lund`));
    api.put(MAPS, pipelineMap("lion-v2", "steps: [{step: Other}]"));
    await until(ask, (campaign) => campaign?.pipeline.steps[0] === "Other");
    assert.deepEqual(reads(), []);
    api.put(PODS, podObject("3"));
    const running = await until(ask, (campaign) => campaign !== changed && campaign?.kind === "live");
    assert.equal(running?.volumes, changed?.volumes);
  }));

Deno.test("watched campaigns: what goes beyond the budget is read again, the rest is not", () =>
  watching(async ({ api, source, reads }) => {
    await followed(api);
    reads();
    for (const name of ["lund", "visby", "lund", "visby"]) await source.campaign("batch-default", name);
    const volumes = reads().filter((path) => path.includes("campaign-"));
    assert.deepEqual(volumes.map((path) => path.slice(MAPS.length + 1)), [
      "campaign-lund",
      "campaign-visby",
      "campaign-lund",
      "campaign-visby",
    ]);
  }, { limits: { documentBytes: 400 } }));

Deno.test("watched campaigns: maps that are not followed are read, and shared for a moment", () =>
  watching(async ({ api, source, reads, clock }) => {
    const mounts = (name: string) => ({ name, configMap: { name: `own-${name}` } });
    const volumes = [mounts("campaign"), mounts("pipeline")];
    const metadata = { namespace: "batch-default", name: "own-campaign" };
    await followed(api);
    api.put(MAPS, { metadata, data: { "volumes.txt": "x\ny\n" } });
    api.put(JOBS, jobObject({ metadata: { name: "own" }, spec: { template: { spec: { volumes } } } }));
    const ask = () => source.campaign("batch-default", "own");
    while ((await ask()) === null) await new Promise((resolve) => setTimeout(resolve, 1));
    reads();
    const found = await ask();
    assert.equal(found?.volumes.count, 2);
    assert.deepEqual(found?.pipeline.steps, []);
    assert.deepEqual(reads(), []);
    clock.now += 3_000;
    await ask();
    assert.deepEqual(reads().sort(), [`${MAPS}/own-campaign`, `${MAPS}/own-pipeline`]);
  }));

Deno.test("watched campaigns: a document that cannot be read is a 502 for that campaign, the list still works", () =>
  watching(async ({ api, source }) => {
    await followed(api);
    api.fault = ({ path }) => path.endsWith("/campaign-lund") ? 500 : null;
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
    assert.equal((await source.list()).jobs.length, 2);
    api.fault = null;
    assert.ok(await source.campaign("batch-default", "lund"));
  }));

Deno.test("watched campaigns: readers wait for the first lists, and fail when these do not arrive", async () => {
  await watching(async ({ source }) => {
    assert.equal(source.age(), null);
    await assert.rejects(source.list(), ClusterUnavailable);
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
    await assert.rejects(source.pods("batch-default", "lund"), ClusterUnavailable);
  }, { limits: { waitTimeoutMs: 20 }, before: (api) => void (api.fault = () => "hang") });
  await watching(async ({ source, api }) => {
    api.until(() => api.requests.length === 6).then(() => api.fault = null);
    assert.equal((await source.list()).jobs.length, 2);
  }, { before: (api) => void (api.fault = () => (503)) });
});

Deno.test("watched campaigns: what is old says how old it is, and beyond a bound it is not handed out", () =>
  watching(async ({ api, source, clock, until }) => {
    await followed(api);
    assert.equal(source.age(), 0);
    await api.stop();
    clock.now += MAX_AGE_MS;
    assert.equal(source.age(), MAX_AGE_MS);
    assert.equal((await source.list()).jobs.length, 2);
    clock.now += 1;
    await assert.rejects(source.list(), ClusterUnavailable);
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
    api.restart();
    await followed(api);
    api.bookmark();
    await until(() => Promise.resolve(source.age()), (age) => age === 0);
    assert.equal((await source.list()).jobs.length, 2);
  }));

Deno.test("watched campaigns: hostile objects cost only themselves", () =>
  watching(async ({ api, source, until }) => {
    await followed(api);
    const metadata = { namespace: "batch-default", name: "__proto__", labels: jobObject().metadata };
    api.send(`{"type":"ADDED","object":{"metadata":{"name":"x","labels":[]}}}\n{"type":"ADDED","object":7}\n`);
    api.put(JOBS, { metadata });
    const labels = Object(jobObject().metadata).labels;
    api.put(JOBS, { metadata: { namespace: "batch-default", name: "__proto__", labels }, spec: 1, status: [] });
    const list = await until(() => source.list(), ({ jobs }) => jobs.length === 3);
    assert.deepEqual(list.jobs.map(({ name }) => name), ["__proto__", "lund", "visby"]);
    assert.ok(await source.campaign("batch-default", "__proto__"));
    assert.equal(await source.campaign("batch-default", "constructor"), null);
  }));

Deno.test("watched campaigns: no watch is left open after a close", async () => {
  const api = new FaultyCluster();
  testCluster(api);
  const connection = await clusterConnection({ url: api.url }, { now: Date.now });
  const source = new WatchedCampaigns({
    connection,
    conventions,
    namespaces: ["batch-default", "other"],
    now: Date.now,
    random: Math.random,
  });
  await api.until(() => api.watches === 12);
  await source.close();
  await api.until(() => api.watches === 0);
  await api.stop();
});
