import assert from "node:assert/strict";
import { type Conventions, labelNames, selectors } from "@/lib/campaigns/projection/conventions.ts";
import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { startApplication } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { resultsCookie } from "./gateway_client.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

Deno.test("whole application: campaigns are there at once, move, and their results are read through the proxy", async () => {
  await using application = await startApplication({ env: { SIMULATOR_SPEED: "60" } });
  const { site } = application;
  const anonymous = await fetch(`${site}api/v1/jobs`);
  assert.equal(anonymous.status, 401);
  assert.deepEqual(await anonymous.json(), { detail: "not logged in" });

  const cookie = await resultsCookie(site, "reader");
  const read = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${site}api/v1${path}`, { headers: { cookie } });
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("cache-control"), "private, no-store");
    return await response.json();
  };
  assert.deepEqual(Object.keys(await read("/version")), ["version", "web"]);
  const jobs = await read<JobSummary[]>("/jobs");
  assert.ok(jobs.length >= 6);
  const phases = new Set(jobs.map(({ phase }) => phase));
  for (const phase of ["Queued", "Running", "Paused", "PartiallyFailed", "Succeeded"] as const) {
    assert.ok(phases.has(phase), phase);
  }
  // The one that runs at the start may be over by now.
  assert.ok(jobs.some(({ warmup }) => warmup.phase === "running" || warmup.phase === "succeeded"));
  assert.ok(jobs.some(({ jobGone }) => jobGone));

  const running = jobs.find(({ phase, counts }) => phase === "Running" && counts.done > 0);
  assert.ok(running);
  const path = `/jobs/${running.namespace}/${running.name}`;
  const first = await read<JobDetail>(path);
  assert.equal(first.volumes.length, first.counts.total);
  // One that ends now: files of what was over at the start are still being written behind it.
  const doneBefore = new Set(first.volumes.filter(({ state }) => state === "done").map(({ index }) => index));
  const endedSince = ({ volumes }: JobDetail) =>
    volumes.find(({ index, state, progress }) => state === "done" && progress !== null && !doneBefore.has(index));
  const done = await until("a volume is done", async () => endedSince(await read<JobDetail>(path)) ?? null);

  for (const url of [done.logUrl, done.manifestUrl, done.iiifUrl]) {
    assert.equal((await fetch(url)).status, 401);
    const file = await fetch(url, { headers: { cookie } });
    assert.equal(file.status, 200, url);
    assert.ok((await file.bytes()).length > 0);
  }
  const part = await fetch(done.logUrl, { headers: { cookie, range: "bytes=0-9" } });
  assert.equal(part.status, 206);
  assert.equal((await part.bytes()).length, 10);
  const source = await fetch(done.sourceUrl ?? "");
  assert.equal(source.headers.get("access-control-allow-origin"), "*");
  await source.body?.cancel();
  assert.equal(
    (await fetch(`${site}api/v1/jobs/batch-default/no-such-campaign`, { headers: { cookie } })).status,
    404,
  );
});

Deno.test("whole application: a login survives a restart, and campaigns go on where they were", async () => {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-restart-" });
  const campaigns = async (site: string, cookie: string) => {
    const response = await fetch(`${site}api/v1/jobs`, { headers: { cookie } });
    assert.equal(response.status, 200);
    const jobs: JobSummary[] = await response.json();
    return new Map(jobs.map(({ name, createdAt, counts }) => [`${name} ${createdAt}`, counts.done]));
  };
  const first = await startApplication({ dataFolder });
  const cookie = await resultsCookie(first.site, "archive/curator");
  let before = await campaigns(first.site, cookie);
  await first.stop();
  // A stop that cannot wait for all files of the past keeps no state, and campaigns begin anew: then it is kept later.
  if (!await exists(`${dataFolder}/cluster.json`)) {
    const again = await startApplication({ dataFolder });
    before = await campaigns(again.site, cookie);
    await until("the campaigns are stored", async () => await exists(`${dataFolder}/cluster.json`) || null);
    await again.stop();
  }
  using _removal = removeAtEnd(dataFolder);
  await using second = await startApplication({ dataFolder });
  const after = await campaigns(second.site, cookie);
  for (const [campaign, done] of before) assert.ok((after.get(campaign) ?? -1) >= done, campaign);
  // The first start ended while the files of its past were still being written: they come all the same.
  const detail = await fetch(`${second.site}api/v1/jobs/batch-default/bergskollegium-1720`, { headers: { cookie } });
  const { volumes }: JobDetail = await detail.json();
  for (const { manifestUrl, logUrl } of volumes) {
    for (const url of [manifestUrl, logUrl]) {
      const here = url.replace(/^.*\/results\//, `${second.site}results/`);
      await until(here, async () => (await fetch(here, { headers: { cookie } })).status === 200 || null);
    }
  }
});

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Conventions that share no word with the preset. */
const CONVENTIONS_OF_OURS: Conventions = {
  labelDomain: "batch.example.org/",
  campaignApp: "our-batch",
  warmupApp: "our-warmup",
  managedBy: "our-tool",
  pipelinePrefix: "our-pipeline-",
  summaryManager: "our-web",
  failuresManager: "our-web-failures",
  applyManager: "our-campaigns",
  defaultNamespace: "our-batch",
  cookieStem: "our_session",
};

interface Item {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly { readonly manager: string }[];
  };
}

Deno.test("conventions: labels, names, namespace and cookie are the ones in the cluster, of its records and at the login", async () => {
  await using application = await startApplication({
    env: { CAMPAIGN_CONVENTIONS: JSON.stringify(CONVENTIONS_OF_OURS) },
  });
  const { site, dataFolder } = application;
  const { defaultNamespace: namespace, cookieStem, labelDomain, pipelinePrefix } = CONVENTIONS_OF_OURS;
  const cookie = await resultsCookie(site);
  assert.ok(cookie.startsWith(`${cookieStem}=`));
  const read = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${site}api/v1${path}`, { headers: { cookie } });
    assert.equal(response.status, 200, path);
    return await response.json();
  };
  const jobs = await read<JobSummary[]>("/jobs");
  assert.ok(jobs.some(({ jobGone }) => jobGone) && jobs.some(({ jobGone }) => !jobGone));
  assert.ok(jobs.every((row) => row.namespace === namespace));
  assert.ok(jobs.some(({ warmup }) => warmup.phase !== "missing"));
  assert.ok(jobs.some(({ qualityPrediction }) => qualityPrediction));
  for (const jobGone of [true, false]) {
    const name = jobs.find((row) => row.jobGone === jobGone)?.name;
    const detail = await read<JobDetail>(`/jobs/${namespace}/${name}`);
    assert.equal(detail.jobGone, jobGone);
    assert.ok(detail.volumes.length > 0 && detail.pipelineSteps.length > 0, name);
  }

  const config = JSON.parse(await Deno.readTextFile(`${dataFolder}/kubeconfig`));
  const server: string = config.clusters[0].cluster.server;
  const list = async (path: string, labelSelector: string): Promise<Item[]> => {
    const response = await fetch(`${server}${path}?${new URLSearchParams({ labelSelector })}`);
    assert.equal(response.status, 200);
    return (await response.json()).items;
  };
  const { campaignJobs, pipelines } = selectors(CONVENTIONS_OF_OURS);
  const batch = await list(`/apis/batch/v1/namespaces/${namespace}/jobs`, campaignJobs);
  assert.deepEqual(
    batch.map(({ metadata }) => metadata.name).sort(),
    jobs.filter(({ jobGone }) => !jobGone).map(({ name }) => name).sort(),
  );
  const maps = await list(`/api/v1/namespaces/${namespace}/configmaps`, pipelines);
  assert.ok(maps.length > 0);
  for (const { metadata: { name, labels } } of maps) {
    assert.equal(name, pipelinePrefix + labels?.[`${labelDomain}pipeline`]);
  }
  const kind = labelNames(CONVENTIONS_OF_OURS).kind;
  await until("a record of a campaign that was listed", async () => {
    const found = await list(`/api/v1/namespaces/${namespace}/configmaps`, `${kind}=status`);
    const managers = found.flatMap(({ metadata }) => metadata.managedFields ?? []).map(({ manager }) => manager);
    return managers.includes(CONVENTIONS_OF_OURS.summaryManager) || null;
  });
});
