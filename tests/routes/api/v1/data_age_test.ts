import assert from "node:assert/strict";
import { ChosenCampaigns } from "@/lib/campaigns/source/chosen_campaigns.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { type Faults, FaultyCluster } from "@/tests/embedded/cluster/faulty_cluster.ts";
import { conventions } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { testCluster } from "@/tests/lib/kubernetes/test_cluster.ts";
import { jobsApp } from "./jobs_fixture.ts";
import { ANNA } from "./web_fixture.ts";

interface Site {
  readonly api: FaultyCluster;
  readonly clock: { now: number };
  readonly refused: Promise<void>;
  /** Status and `X-Data-Age` of the list and of a detail. */
  answers(): Promise<[status: number, age: string | null][]>;
}

/** The read API over a cluster that may fail. */
async function withCluster(fault: Faults | null, use: (site: Site) => Promise<void>): Promise<void> {
  const api = new FaultyCluster();
  testCluster(api);
  api.fault = fault;
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const refused = Promise.withResolvers<void>();
  const chosen = new ChosenCampaigns({
    connection: await clusterConnection({ kind: "server", url: api.url }, { now }),
    conventions,
    namespaces: ["batch-default"],
    now,
    random: () => 0.5,
    watchRefused: refused.resolve,
    watchAllowed: () => {},
  });
  const app = jobsApp(chosen.source, { now });
  const answer = async (path: string): Promise<[number, string | null]> => {
    const response = await app.request(path, { headers: ANNA });
    await response.body?.cancel();
    return [response.status, response.headers.get("x-data-age")];
  };
  try {
    await use({
      api,
      clock,
      refused: refused.promise,
      answers: async () => [await answer("/api/v1/jobs"), await answer("/api/v1/jobs/batch-default/lund")],
    });
  } finally {
    await chosen.close();
    await api.stop();
  }
}

const CURRENT = [[200, null], [200, null]];

Deno.test("data age: a list and a detail say how old they are once the watches have been broken for half a minute", async () => {
  await withCluster(null, async ({ api, clock, answers }) => {
    await api.until(() => api.watches === 6);
    assert.deepEqual(await answers(), CURRENT);
    await api.stop();
    clock.now += 30_000;
    assert.deepEqual(await answers(), CURRENT);
    clock.now += 15_500;
    assert.deepEqual(await answers(), [[200, "45"], [200, "45"]]);
    clock.now += 300_000;
    assert.deepEqual(await answers(), [[502, null], [502, null]]);
  });
});

Deno.test("data age: one broken watch of six is enough to be out of date", async () => {
  await withCluster(null, async ({ api, clock, answers }) => {
    await api.until(() => api.watches === 6);
    api.fault = ({ path }) => path.endsWith("/pods") ? 500 : null;
    api.end();
    await api.until(() => api.watches === 5);
    clock.now += 40_000;
    // The other five are current again.
    api.bookmark();
    assert.deepEqual(await answers(), [[200, "40"], [200, "40"]]);
  });
});

Deno.test("data age: without the right to watch each response reads the cluster, and none is out of date", async () => {
  await withCluster(({ isWatch }) => isWatch ? 403 : null, async ({ api, clock, refused, answers }) => {
    await refused;
    assert.deepEqual(await answers(), CURRENT);
    clock.now += 40_000;
    const before = api.requests.length;
    assert.deepEqual(await answers(), CURRENT);
    assert.ok(api.requests.length > before);
    await api.stop();
    clock.now += 40_000;
    assert.deepEqual(await answers(), [[502, null], [502, null]]);
  });
});
