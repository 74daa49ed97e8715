import assert from "node:assert/strict";
import { ChosenCampaigns, MAX_REPORTED_JOBS, unlistedJobs } from "@/lib/campaigns/source/chosen_campaigns.ts";
import type { LogEntry } from "@/lib/http/app.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import { type Faults, FaultyCluster, type Received } from "@/tests/lib/kubernetes/faulty_cluster.ts";
import { conventions, job } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { testCluster } from "@/tests/lib/kubernetes/test_cluster.ts";

interface Choice {
  readonly api: FaultyCluster;
  readonly chosen: ChosenCampaigns;
  readonly clock: { now: number };
  readonly refused: Promise<void>;
  readonly allowed: Promise<void>;
  /** How often forbidden watches were reported. */
  readonly told: { refusals: number };
}

async function choosing(
  fault: Faults | null,
  use: (choice: Choice) => Promise<void>,
  { watchAgainMs, waitTimeoutMs = 10_000 }: { watchAgainMs?: number; waitTimeoutMs?: number } = {},
): Promise<void> {
  const api = new FaultyCluster();
  testCluster(api);
  api.fault = fault;
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const [refused, allowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const told = { refusals: 0 };
  const chosen = new ChosenCampaigns({
    connection: await clusterConnection({ url: api.url }, { now }),
    conventions,
    namespaces: ["batch-default"],
    now,
    random: () => 0.5,
    watchRefused: () => {
      told.refusals++;
      refused.resolve();
    },
    watchAllowed: allowed.resolve,
    limits: { waitTimeoutMs },
    watchAgainMs,
  });
  try {
    await use({ api, chosen, clock, refused: refused.promise, allowed: allowed.promise, told });
  } finally {
    await chosen.close();
    await api.stop();
  }
}

const noWatch: Faults = ({ isWatch }) => isWatch ? 403 : null;
const lists = (api: FaultyCluster) =>
  api.requests.filter(({ isWatch, path }) => !isWatch && path !== "/version").length;

Deno.test("chosen campaigns: an account that may watch follows", () =>
  choosing(null, async ({ api, chosen }) => {
    await api.until(() => api.watches === 6);
    assert.equal((await chosen.source.list()).jobs.length, 2);
    assert.ok(await chosen.source.campaign("batch-default", "visby"));
    assert.equal((await chosen.source.pods("batch-default", "lund")).length, 1);
    assert.equal(chosen.source.age(), 0);
    assert.equal(await chosen.ready(), true);
  }));

Deno.test("chosen campaigns: an account that may not watch lists, and its watches end", () =>
  choosing(noWatch, async ({ api, chosen, clock, refused }) => {
    await refused;
    const before = lists(api);
    assert.equal((await chosen.source.list()).jobs.length, 2);
    assert.equal(lists(api), before + 5);
    clock.now += 1_000_000;
    assert.equal((await chosen.source.list()).jobs.length, 2);
    assert.equal(lists(api), before + 10);
    assert.equal(chosen.source.age(), 0);
    assert.equal(await chosen.ready(), true);
    assert.equal(api.watches, 0);
  }));

Deno.test("chosen campaigns: only one kind that may not be watched is enough for listing", async () => {
  const noPods: Faults = ({ isWatch, path }) => isWatch && path.endsWith("/pods") ? 403 : null;
  await choosing(noPods, async ({ chosen, refused }) => {
    await refused;
    assert.equal((await chosen.source.list()).jobs.length, 2);
  });
});

Deno.test("chosen campaigns: a forbidden account is tried again, and its cluster followed once it may watch everything", async () => {
  const isTrial = ({ isWatch, query }: Received) => isWatch && query.get("timeoutSeconds") === "1";
  const trials = (api: FaultyCluster, kind: string) =>
    api.requests.filter((asked) => isTrial(asked) && asked.path.endsWith(`/${kind}`)).length;
  // The server of the tests ends no watch by itself.
  const ended: Faults = (asked) => isTrial(asked) ? 200 : null;
  await choosing(noWatch, async ({ api, chosen, refused, allowed, told }) => {
    await refused;
    await api.until(() => trials(api, "jobs") >= 2);
    assert.deepEqual([trials(api, "pods"), trials(api, "configmaps")], [0, 0]);
    const noMaps: Faults = ({ isWatch, path }) => isWatch && path.endsWith("/configmaps") ? 403 : null;
    api.fault = (asked) => noMaps(asked) ?? ended(asked);
    await api.until(() => trials(api, "configmaps") >= 2);
    assert.equal((await chosen.source.list()).jobs.length, 2);
    assert.equal(api.watches, 0);
    api.fault = ended;
    await allowed;
    const before = lists(api);
    assert.equal((await chosen.source.list()).jobs.length, 2);
    assert.equal(lists(api), before);
    await api.until(() => api.watches === 6);
    assert.equal(await chosen.ready(), true);
    assert.equal(told.refusals, 1);
  }, { watchAgainMs: 5 });
});

Deno.test("chosen campaigns: an account that loses the right to watch a second time is listed again", () =>
  choosing(noWatch, async ({ api, chosen, refused, allowed, told, clock }) => {
    await refused;
    api.fault = ({ isWatch, query }) => isWatch && query.get("timeoutSeconds") === "1" ? 200 : null;
    await allowed;
    await api.until(() => api.watches === 6);
    api.fault = noWatch;
    const before = lists(api);
    clock.now += 20_000;
    api.end();
    await api.until(() => told.refusals === 2 || lists(api) > before);
    assert.equal((await chosen.source.list()).jobs.length, 2);
    assert.equal(told.refusals, 2);
  }, { watchAgainMs: 5 }));

Deno.test("chosen campaigns: a cluster that is unavailable at first is not ready, is a 502, and is followed when it responds", () =>
  choosing(() => "reset", async ({ api, chosen }) => {
    assert.equal(await chosen.ready(), false);
    await assert.rejects(chosen.source.list(), ClusterUnavailable);
    api.fault = null;
    await api.until(() => api.watches === 6);
    assert.equal(await chosen.ready(), true);
    assert.equal((await chosen.source.list()).jobs.length, 2);
  }, { waitTimeoutMs: 200 }));

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
