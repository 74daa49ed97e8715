import assert from "node:assert/strict";
import { MAX_REPORTED_JOBS, unlistedJobs } from "@/lib/campaigns/source/campaign_namespace.ts";
import {
  ClusterCampaigns,
  MAX_AGE_MS,
  SHARED_LIST_MS,
  type SourceLimits,
} from "@/lib/campaigns/source/campaign_source.ts";
import type { LogEntry } from "@/lib/http/app.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import {
  condition,
  conventions,
  job,
  jobObject,
  names,
  podObject,
  terminated,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { type Faults, FaultyCluster, JOBS, MAPS, PODS, type Received } from "@/tests/lib/kubernetes/faulty_cluster.ts";
import { pipelineMap, recordMap, statusMap, testCluster } from "@/tests/lib/kubernetes/test_cluster.ts";

interface Watching {
  readonly api: FaultyCluster;
  readonly source: ClusterCampaigns;
  readonly clock: { now: number };
  readonly log: readonly LogEntry[];
  /** How often forbidden watches were reported, and permitted ones. */
  readonly reported: { refusals: number; permissions: number };
  /** Requests other than watches since the last call. */
  reads(): string[];
  /** Reads until a condition holds. */
  until<T>(ask: () => T | Promise<T>, holds: (answer: T) => boolean): Promise<T>;
}

async function watching(
  use: (watching: Watching) => Promise<void>,
  options: { limits?: Partial<SourceLimits>; before?: (api: FaultyCluster) => void; namespaces?: string[] } = {},
): Promise<void> {
  await using api = new FaultyCluster();
  testCluster(api);
  options.before?.(api);
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const log: LogEntry[] = [];
  const reported = { refusals: 0, permissions: 0 };
  const source = new ClusterCampaigns({
    connection: await clusterConnection({ url: api.url }, { now }),
    conventions,
    namespaces: options.namespaces ?? ["batch-default"],
    now,
    random: () => 0.5,
    log: { write: (entry) => log.push(entry), flush() {} },
    watchRefused: () => reported.refusals++,
    watchAllowed: () => reported.permissions++,
    limits: { snapshotMs: 0, ...options.limits },
  });
  let seen = 0;
  try {
    await use({
      api,
      source,
      clock,
      log,
      reported,
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
  }
}

const noWatch: Faults = ({ isWatch }) => isWatch ? 403 : null;

/** The account may not watch, and the source knows it. */
function listing(use: (watching: Watching) => Promise<void>, before?: (api: FaultyCluster) => void): Promise<void> {
  return watching(async (watched) => {
    await watched.until(() => watched.reported.refusals, (refusals) => refusals === 1);
    watched.reads();
    await use(watched);
  }, {
    before(api) {
      api.fault = noWatch;
      before?.(api);
    },
  });
}

/** All watches of the one namespace stand. */
const followed = (api: FaultyCluster) => api.until(() => api.watches === 6);

Deno.test("campaigns: watched or listed, a list and the details are the same", async () => {
  const shown = async ({ source }: Watching) => {
    const list = await source.list();
    const campaigns = await Promise.all(["lund", "reaped"].map(async (name) => {
      const found = await source.campaign("batch-default", name);
      assert.ok(found);
      const lines = Array.from({ length: found.volumes.count }, (_, index) => found.volumes.line(index));
      const failures = found.kind === "reaped" ? [...found.campaign.status.failures] : [];
      return { ...found, volumes: lines, failures };
    }));
    assert.equal(await source.campaign("batch-default", "nobody"), null);
    assert.equal(await source.campaign("batch-default", "foreign"), null);
    assert.equal(await source.campaign("elsewhere", "lund"), null);
    return JSON.parse(JSON.stringify({ list, campaigns }));
  };
  let watched: unknown;
  await watching(async (parts) => {
    await followed(parts.api);
    watched = await shown(parts);
    parts.reads();
    const first = await parts.source.list();
    assert.equal(await parts.source.list(), first);
    assert.deepEqual(parts.reads(), []);
    assert.ok(first.jobs.length === 2 && first.records.length === 3 && first.statuses.length === 2);
    assert.deepEqual(first.pipelines.map(({ pipeline, scoresQuality }) => [pipeline, scoresQuality]), [
      ["lion-v2", true],
      ["plain", false],
    ]);
    const reaped = await parts.source.campaign("batch-default", "reaped");
    assert.ok(reaped?.kind === "reaped");
    assert.equal(reaped.campaign.status.failures.get("b"), "torn");
    assert.equal(reaped.volumes.count, 4);
  });
  await listing(async (parts) => assert.deepEqual(await shown(parts), watched));
});

Deno.test("campaigns: an event makes another snapshot, and what it does not touch is the same object", () =>
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

Deno.test("campaigns: a pod of a failed warm-up makes another snapshot, as the list shows its reason", () =>
  watching(async ({ api, source, until }) => {
    await followed(api);
    const before = await source.list();
    const warmup = before.warmups[0];
    const ended = { exitCode: 1, message: '{"error":"no space"}' };
    const pod = podObject(null, { phase: "Failed", containerStatuses: [terminated("warmup", ended)] }, { name: "w-1" });
    const labels = { "batch.kubernetes.io/job-name": warmup.name };
    api.put(PODS, { ...pod, metadata: { namespace: "batch-default", name: "w-1", labels } });
    await until(() => source.list(), (list) => list !== before);
    assert.equal(source.pods("batch-default", warmup.name)[0].containers[0].exitCode, 1);
  }));

Deno.test("campaigns: the succeeded pods of a Job that ended early are read once, as a list gives them", () =>
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
    assert.deepEqual(live.pods.map(({ name }) => name), [...live.pods.map(({ name }) => name)].sort());
    assert.ok(live.pods.some(({ name }) => name === "lund-3-b"));
    assert.ok(reads().every((path) => path !== PODS));
  }));

Deno.test("campaigns: a Job that lacks only the label managed-by is logged, not listed", async () => {
  const forgotten = { metadata: { name: "forgotten" }, labels: { [names.managedBy]: undefined } };
  await watching(async ({ api, source, log }) => {
    await followed(api);
    assert.ok((await source.list()).jobs.every(({ name }) => name !== "forgotten"));
    assert.deepEqual(log.map(({ unlisted_job: job }) => job), ["batch-default/forgotten"]);
  }, { before: (api) => api.put(JOBS, jobObject(forgotten)) });
});

Deno.test("campaigns: documents are read once for a version of their map, by readers at the same time too", () =>
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

Deno.test("campaigns: documents beyond the budget are read again", () =>
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

Deno.test("campaigns: maps that are not followed are read, and shared for a moment", () =>
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

Deno.test("campaigns: a document that cannot be read is a 502 for that campaign, the list still works", () =>
  watching(async ({ api, source }) => {
    await followed(api);
    api.fault = ({ path }) => path.endsWith("/campaign-lund") ? 500 : null;
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
    assert.equal((await source.list()).jobs.length, 2);
    api.fault = null;
    assert.ok(await source.campaign("batch-default", "lund"));
  }));

Deno.test("campaigns: readers wait for the first lists, and fail when these do not arrive", async () => {
  await watching(async ({ source }) => {
    assert.equal(source.age(), null);
    await assert.rejects(source.list(), ClusterUnavailable);
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
  }, { limits: { waitTimeoutMs: 20 }, before: (api) => void (api.fault = () => "hang") });
  await watching(async ({ source, api }) => {
    api.until(() => api.requests.length === 6).then(() => api.fault = null);
    assert.equal((await source.list()).jobs.length, 2);
  }, { before: (api) => void (api.fault = () => (503)) });
});

Deno.test("campaigns: what is old says how old it is, and beyond a bound it is not handed out", () =>
  watching(async ({ api, source, clock, until }) => {
    await followed(api);
    assert.equal(source.age(), 0);
    await api.stop();
    clock.now += MAX_AGE_MS;
    assert.deepEqual([source.age(), source.lastKnown()], [MAX_AGE_MS, MAX_AGE_MS]);
    assert.equal(await source.ready(), false);
    assert.equal((await source.list()).jobs.length, 2);
    clock.now += 1;
    await assert.rejects(source.list(), ClusterUnavailable);
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
    api.restart();
    await followed(api);
    api.bookmark();
    await until(() => source.age(), (age) => age === 0);
    assert.equal((await source.list()).jobs.length, 2);
  }));

Deno.test("campaigns: hostile objects cost only themselves", () =>
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

Deno.test("campaigns: no watch is left open after a close", async () => {
  let left: FaultyCluster | null = null;
  await watching(async ({ api }) => {
    await api.until(() => api.watches === 12);
    left = api;
  }, { namespaces: ["batch-default", "other"] });
  assert.equal((left as FaultyCluster | null)?.watches, 0);
});

Deno.test("campaigns: without the right to watch the cluster is listed for requests, which share a list for two seconds", () =>
  listing(async ({ api, source, clock, reads }) => {
    const [first, second] = await Promise.all([source.list(), source.list()]);
    assert.equal(first, second);
    assert.deepEqual(reads(), [], "the lists before the first watches");
    clock.now += SHARED_LIST_MS + 1;
    api.put(JOBS, jobObject({ metadata: { name: "visby" }, status: { completedIndexes: "0-2" } }));
    const [third] = await Promise.all([source.list(), source.list(), source.campaign("batch-default", "nobody")]);
    assert.equal(reads().length, 6);
    const named = (list: typeof first, name: string) => list.jobs.find((job) => job.name === name);
    assert.equal(named(third, "visby")?.completed.size, 3);
    assert.equal(named(third, "lund"), named(first, "lund"), "an object that did not change");
    const campaign = await source.campaign("batch-default", "lund");
    assert.equal(await source.campaign("batch-default", "lund"), campaign);
    assert.deepEqual(reads(), [`${MAPS}/campaign-lund`]);
    clock.now += 1_000_000;
    assert.equal(await source.campaign("batch-default", "lund"), campaign);
    assert.equal(reads().length, 6);
    assert.equal(source.age(), 0);
    assert.equal(await source.ready(), true);
    assert.equal(api.watches, 0);
  }));

Deno.test("campaigns: a kind that alone may not be watched is enough for listing", () =>
  watching(async ({ api, source, reported, until }) => {
    await until(() => reported.refusals, (refusals) => refusals === 1);
    assert.equal((await source.list()).jobs.length, 2);
    assert.equal(source.age(), 0);
    await api.until(() => api.watches === 0);
  }, { before: (api) => void (api.fault = ({ isWatch, path }) => isWatch && path.endsWith("/pods") ? 403 : null) }));

Deno.test("campaigns: a list that fails is a 502, and their age then counts from the last list", () =>
  listing(async ({ api, source, clock }) => {
    await source.list();
    clock.now += 90_000;
    assert.equal(source.lastKnown(), 0, "a site that is not visited is no fault");
    api.fault = ({ isWatch, path }) => isWatch ? 403 : path.endsWith("/pods") ? 500 : null;
    await assert.rejects(source.list(), ClusterUnavailable);
    await assert.rejects(source.campaign("batch-default", "lund"), ClusterUnavailable);
    assert.equal(source.lastKnown(), 90_000);
    api.fault = noWatch;
    assert.equal((await source.list()).jobs.length, 2);
    assert.equal(source.lastKnown(), 0);
  }));

const isTrial = ({ isWatch, query }: Received) => isWatch && query.get("timeoutSeconds") === "1";
// The server of the tests ends no watch by itself.
const endedTrials: Faults = (asked) => isTrial(asked) ? 200 : null;

Deno.test("campaigns: a forbidden account is tried again, and its cluster watched once it may watch everything", () =>
  watching(async ({ api, source, reported, reads, until }) => {
    const trials = (kind: string) => api.requests.filter((one) => isTrial(one) && one.path.endsWith(kind)).length;
    await api.until(() => trials("/jobs") >= 2);
    const noMaps: Faults = ({ isWatch, path }) => isWatch && path.endsWith("/configmaps") ? 403 : null;
    api.fault = (asked) => noMaps(asked) ?? endedTrials(asked);
    const before = trials("/configmaps");
    await api.until(() => trials("/configmaps") >= before + 6);
    assert.equal((await source.list()).jobs.length, 2);
    assert.deepEqual([api.watches, reported.permissions], [0, 0]);
    api.fault = endedTrials;
    await until(() => reported.permissions, (permissions) => permissions === 1);
    await followed(api);
    reads();
    assert.equal((await source.list()).jobs.length, 2);
    assert.deepEqual(reads(), []);
    assert.equal(await source.ready(), true);
    assert.equal(reported.refusals, 1);
  }, { limits: { watchAgainMs: 5 }, before: (api) => void (api.fault = noWatch) }));

Deno.test("campaigns: an account that loses the right to watch a second time is listed again", () =>
  watching(async ({ api, source, reported, clock, until }) => {
    await until(() => reported.refusals, (refusals) => refusals === 1);
    api.fault = endedTrials;
    await followed(api);
    api.fault = noWatch;
    clock.now += 20_000;
    api.end();
    await until(() => reported.refusals, (refusals) => refusals === 2);
    assert.equal((await source.list()).jobs.length, 2);
  }, { limits: { watchAgainMs: 5 }, before: (api) => void (api.fault = noWatch) }));

Deno.test("campaigns: a cluster that is unavailable at first is not ready, is a 502, and is watched when it responds", () =>
  watching(async ({ api, source }) => {
    assert.equal(await source.ready(), false);
    assert.equal(source.lastKnown(), null);
    await assert.rejects(source.list(), ClusterUnavailable);
    api.fault = null;
    await followed(api);
    assert.equal(await source.ready(), true);
    assert.equal((await source.list()).jobs.length, 2);
  }, { limits: { waitTimeoutMs: 200 }, before: (api) => void (api.fault = () => "reset") }));

Deno.test("campaigns: maps that are gone, not mounted, or have names that lead elsewhere are missing", () =>
  listing(async ({ api, source, reads, clock }) => {
    for (const name of ["gone", "../secrets/x", "a/b", "..", "%2e%2e", ""]) {
      const volumes = [{ name: "campaign", configMap: { name } }, { name: "pipeline", configMap: { name } }];
      api.put(JOBS, jobObject({ spec: { completions: 2, template: { spec: { volumes } } } }));
      clock.now += 10_000;
      reads();
      const campaign = await source.campaign("batch-default", "lund");
      assert.equal(campaign?.volumes.count, 0);
      assert.deepEqual(campaign?.pipeline.steps, []);
      assert.deepEqual(reads().filter((path) => path.startsWith(`${MAPS}/`) && !path.endsWith("/gone")), []);
    }
  }));

Deno.test("campaigns: the record of a Job that is no campaign is shown, one without a phase is not", () =>
  listing(async ({ api, source, clock }) => {
    api.put(JOBS, jobObject({ labels: { app: "something" } }));
    api.put(MAPS, statusMap("lund"));
    clock.now += 10_000;
    const reaped = await source.campaign("batch-default", "lund");
    assert.ok(reaped?.kind === "reaped");
    assert.equal(reaped.volumes.count, 4);
    api.put(MAPS, statusMap("lund", { phase: "Weird" }));
    clock.now += 10_000;
    assert.equal(await source.campaign("batch-default", "lund"), null);
  }));

Deno.test("campaigns: succeeded pods are read for an ended Job that did not count all of its volumes", async () => {
  const ended = { conditions: [condition("Failed", "2025-11-20T09:00:00Z")] };
  await listing(async ({ api, source, clock, reads }) => {
    api.remove(PODS, "lund-1-x");
    for (const [name, index, phase] of [["lund-0-b", "0", "Succeeded"], ["lund-2-a", "2", "Succeeded"]]) {
      api.put(PODS, podObject(index, { phase }, { name }));
    }
    const succeeded = async (status: object) => {
      api.put(JOBS, jobObject({ status }));
      clock.now += 10_000;
      reads();
      const campaign = await source.campaign("batch-default", "lund");
      assert.ok(campaign?.kind === "live");
      const names = campaign.pods.filter(({ phase }) => phase === "Succeeded").map(({ name }) => name);
      return [names.includes("lund-0-b"), names.includes("lund-2-a"), reads().filter((path) => path === PODS).length];
    };
    assert.deepEqual(await succeeded({ ...ended, completedIndexes: "0" }), [false, true, 2]);
    assert.deepEqual(await succeeded({ ...ended, completedIndexes: "0-2", failedIndexes: "3" }), [false, false, 1]);
    assert.deepEqual(await succeeded({ completedIndexes: "0" }), [false, false, 1]);
  });
});

Deno.test("unlisted Jobs: each is logged once, with the label that is missing, up to a bound", () => {
  const lines: LogEntry[] = [];
  const report = unlistedJobs({ write: (entry) => lines.push(entry), flush() {} }, conventions);
  const first = job();
  report(first);
  report(job());
  assert.deepEqual(lines, [{
    level: "warn",
    unlisted_job: "batch-default/lund",
    error: "the label campaigns.stackroom.dev/managed-by=converter is missing",
  }]);
  report({ ...first, uid: "uid-2" });
  assert.equal(lines.length, 2, "another Job of the same name");
  for (let i = 0; i < MAX_REPORTED_JOBS; i++) report({ ...first, name: `job-${i}` });
  assert.equal(lines.length, MAX_REPORTED_JOBS);
});
