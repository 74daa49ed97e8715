import assert from "node:assert/strict";
import { CONVENTIONS, type Conventions, selectors } from "@/lib/campaigns/projection/conventions.ts";
import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { startApplication } from "@/tests/application.ts";
import { resultsCookie } from "./gateway_client.ts";

const OVERRIDES = {
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

const SETTINGS: [what: string, setting: string, conventions: Conventions][] = [
  ["the other preset", "htrflow", CONVENTIONS.htrflow],
  ["overrides of everything", JSON.stringify(OVERRIDES), OVERRIDES],
];

interface Item {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

for (const [what, setting, conventions] of SETTINGS) {
  Deno.test(`conventions, ${what}: labels, names, namespace and cookie are the ones in the cluster and at the door`, async () => {
    const application = await startApplication({ env: { CAMPAIGN_CONVENTIONS: setting } });
    const { site, dataFolder } = application;
    const { defaultNamespace: namespace, cookieStem, labelDomain, pipelinePrefix } = conventions;
    try {
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
      const { campaignJobs, pipelines } = selectors(conventions);
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
    } finally {
      await application.stop();
    }
  });
}
