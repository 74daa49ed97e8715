import assert from "node:assert/strict";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import { type CampaignSource, ClusterCampaigns } from "@/lib/campaigns/source/campaign_source.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { conventions } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { pipelineMap, recordMap, statusMap } from "@/tests/lib/kubernetes/test_cluster.ts";
import { KUBERNETES, makeCampaignJob, type Real, withNamespace } from "./real_cluster.ts";

const ignore = KUBERNETES === undefined;

const REQUEST = { resultsUrl: "https://campaigns.example.org/results", reaped: 20 };

/** One live campaign with its pods made by the Job controller, and one whose Job is gone. */
async function populate(real: Real): Promise<void> {
  const { namespace, call } = real;
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const inside = (map: { metadata: object }) => ({ ...map, metadata: { ...map.metadata, namespace, uid: undefined } });
  for (const name of ["lund", "reaped"]) await call("POST", maps, inside(recordMap(name)));
  await call("POST", maps, inside(statusMap("reaped")));
  await call("POST", maps, inside(pipelineMap("lion-v2", "steps: [{step: QualityPrediction}]")));
  await makeCampaignJob(real, "lund");
}

async function until<T>(ask: () => T | Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function shown(source: CampaignSource, namespace: string): Promise<unknown> {
  const { jobs, reapedTotal } = await new CampaignLists(source).list(REQUEST);
  const campaigns = await Promise.all(["lund", "reaped"].map(async (name) => {
    const objects = await source.campaign(namespace, name);
    const { volumes } = objects ?? { volumes: { count: 0, line: () => null } };
    return { ...objects, volumes: Array.from({ length: volumes.count }, (_, index) => volumes.line(index)) };
  }));
  return JSON.parse(JSON.stringify({ jobs, reapedTotal, campaigns }));
}

Deno.test(
  "kubernetes: following the cluster shows what listing it shows, as pods fail and succeed",
  { ignore },
  async () => {
    await withNamespace(async (real) => {
      const { namespace, call } = real;
      const connection = await clusterConnection({ path: KUBERNETES ?? "" }, { now: Date.now });
      const options = {
        conventions,
        namespaces: [namespace],
        now: Date.now,
        random: Math.random,
        log: NO_LOG,
        watchRefused() {},
        watchAllowed() {},
      };
      const limits = { snapshotMs: 0, watchSeconds: 2 };
      const source = new ClusterCampaigns({ ...options, connection, limits });
      const refused = Promise.withResolvers<void>();
      const listing = new ClusterCampaigns({
        ...options,
        connection: { ...connection, stream: () => Promise.resolve(403) },
        watchRefused: refused.resolve,
        limits,
      });
      try {
        await refused.promise;
        assert.deepEqual((await source.list()).jobs, []);
        await populate(real);
        const pods = await until(() => source.pods(namespace, "lund"), ({ length }) => length === 2);
        const end = (name: string, phase: string, exitCode: number) =>
          call("PATCH", `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
            status: {
              phase,
              containerStatuses: [{
                name: "wrapper",
                image: "x",
                imageID: "",
                ready: false,
                restartCount: 0,
                state: { terminated: { exitCode, message: "torn" } },
              }],
            },
          }, "application/strategic-merge-patch+json");
        await end(pods[0].name, "Succeeded", 0);
        await end(pods[1].name, "Failed", 1);
        await until(() => source.list(), ({ jobs }) => jobs[0]?.completed.size === 1 && jobs[0].failed.size === 1);
        // The next two pods run; the failed one stays.
        await until(() => source.pods(namespace, "lund"), ({ length }) => length === 3);
        const same = async () => {
          const [mine, theirs] = [await shown(source, namespace), await shown(listing, namespace)];
          return { mine, theirs };
        };
        const { mine, theirs } = await until(
          same,
          ({ mine, theirs }) => JSON.stringify(mine) === JSON.stringify(theirs),
        );
        assert.deepEqual(mine, theirs);
        // Watches ended and went on several times.
        const age = await until(() => source.age(), (age) => age !== null && age < 3_000);
        assert.ok(age !== null);
        await call("DELETE", `/apis/batch/v1/namespaces/${namespace}/jobs/lund?propagationPolicy=Background`);
        await until(() => source.list(), ({ jobs }) => jobs.length === 0);
        await until(() => source.pods(namespace, "lund"), ({ length }) => length === 0);
        assert.equal((await source.list()).records.length, 2);
      } finally {
        await source.close();
        await listing.close();
      }
    });
  },
);
