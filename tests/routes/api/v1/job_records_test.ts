import assert from "node:assert/strict";
import { CampaignRecords, recordWriter } from "@/lib/campaigns/records/campaign_records.ts";
import { ClusterCampaigns } from "@/lib/campaigns/source/campaign_source.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { FaultyCluster, JOBS } from "@/tests/lib/kubernetes/faulty_cluster.ts";
import { conventions, jobObject } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { detailed, jobsApp, listed, NOW } from "./jobs_fixture.ts";
import { ANNA, RESULTS_URL } from "./web_fixture.ts";

interface Scene {
  readonly server: FaultyCluster;
  readonly app: ReturnType<typeof jobsApp>;
  readonly records: CampaignRecords;
}

async function withCluster(use: (scene: Scene) => Promise<void>): Promise<void> {
  await using server = new FaultyCluster();
  server.put(JOBS, jobObject({ status: { completedIndexes: "0", failedIndexes: "1" } }));
  const now = () => NOW;
  const connection = await clusterConnection({ url: server.url }, { now });
  const source = new ClusterCampaigns({
    connection,
    conventions,
    namespaces: ["batch-default"],
    now,
    random: Math.random,
    log: NO_LOG,
    watchRefused() {},
    watchAllowed() {},
  });
  const writer = recordWriter({ connection, conventions, resultsUrl: RESULTS_URL });
  const records = new CampaignRecords({ writer, resultsUrl: RESULTS_URL, log: NO_LOG, now });
  await use({ server, records, app: jobsApp(source, { records }) });
  await records.idle();
  await source.close();
}

const data = (server: FaultyCluster) => server.configMap("campaign-lund-status")?.data;

Deno.test("job records: a list is answered before its records are written, and they are", () =>
  withCluster(async ({ server, app, records }) => {
    const gate = Promise.withResolvers<null>();
    server.fault = ({ method }) => method === "PATCH" ? gate.promise : null;
    const [row] = await listed(app);
    assert.equal(row.counts.done, 1);
    assert.equal(data(server), undefined);
    gate.resolve(null);
    await records.idle();
    assert.deepEqual([data(server)?.phase, data(server)?.volumesFailed], ["Running", "1"]);
    assert.equal(data(server)?.resultsBase, row.resultsBase);
    assert.equal(data(server)?.failedVolumes, undefined);
    await app.request("/api/v1/jobs", { method: "HEAD", headers: ANNA });
    await records.idle();
    assert.equal(server.patches.length, 1);
  }));

Deno.test("job records: whatever becomes of a write, the answers are the same", async () => {
  for (const status of [403, 409, 500]) {
    await withCluster(async ({ server, app, records }) => {
      server.fault = ({ method }) => method === "PATCH" ? status : null;
      assert.equal((await listed(app)).length, 1);
      await records.idle();
      assert.equal((await detailed(app)).name, "lund");
      await records.idle();
      assert.equal(server.patches.length, status === 409 ? 2 : 1);
      assert.equal(data(server), undefined);
    });
  }
});
