import assert from "node:assert/strict";
import { startEmbeddedCluster } from "@/embedded/cluster/server.ts";
import { progressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import { Tallies } from "@/lib/campaigns/progress/tallies.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { type JobDetail, type JobSummary } from "@/lib/campaigns/projection/types.ts";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import { listedCampaigns } from "@/lib/campaigns/source/listed_campaigns.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { jobOperations } from "@/routes/api/v1/jobs.ts";
import { webOperations } from "@/routes/api/v1/web_operation.ts";
import { memoryWriter, sampleOptions } from "@/tests/embedded/cluster/sample_cluster.ts";
import { ANNA, RESULTS_URL, session, webApp } from "./web_fixture.ts";

Deno.test("jobs: over real HTTP, the embedded cluster's campaigns with files of its workers, per user", async () => {
  const options = sampleOptions({ resultsUrl: RESULTS_URL });
  const writer = memoryWriter();
  const cluster = await startEmbeddedCluster({ ...options, writer });
  const cookies = new Set<string | null>();
  const results = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, ({ url, headers }) => {
    cookies.add(headers.get("cookie"));
    const file = writer.files.get(decodeURIComponent(new URL(url).pathname.slice("/results/".length)));
    return file ? new Response(new Blob([file.body.slice()])) : new Response(null, { status: 404 });
  });
  const now = () => cluster.simulator.store.now();
  const source = listedCampaigns({
    connection: await clusterConnection({ kind: "server", url: cluster.url }, { now: Date.now }),
    conventions: { ...CONVENTIONS.stackroom, ...options.conventions },
    namespaces: [options.namespace],
    now: Date.now,
  });
  const app = webApp(jobOperations(webOperations(session), {
    source,
    namespaces: [options.namespace],
    progress: progressReader({
      send: fetch,
      base: `http://127.0.0.1:${results.addr.port}/results`,
      now,
      sessionMs: 3_600_000,
    }),
    tallies: new Tallies(now, 3_600_000),
    lists: new CampaignLists(source),
    resultsUrl: () => RESULTS_URL,
    now,
  }));
  const site = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => app.fetch(request));
  try {
    const origin = `http://127.0.0.1:${site.addr.port}`;
    const answer = await fetch(`${origin}/api/v1/jobs`, { headers: ANNA });
    assert.equal(answer.headers.get("x-reaped-total"), "1");
    const rows: JobSummary[] = await answer.json();
    assert.equal(rows.length, 8);
    assert.deepEqual(rows.map(({ createdAt }) => createdAt), rows.map(({ createdAt }) => createdAt).sort().reverse());
    const phases = new Set(rows.map(({ phase }) => phase));
    for (const phase of ["Queued", "Running", "Paused", "Succeeded", "PartiallyFailed"] as const) {
      assert.ok(phases.has(phase), phase);
    }
    for (const row of rows) {
      const response = await fetch(`${origin}/api/v1/jobs/${row.namespace}/${row.name}`, { headers: ANNA });
      assert.equal(response.status, 200);
      const detail: JobDetail = await response.json();
      for (const name of Object.keys(row) as (keyof JobSummary)[]) assert.deepEqual(detail[name], row[name], name);
      assert.equal(detail.volumes.length, row.counts.total);
      const started = detail.volumes.filter(({ state }) => state !== "pending");
      assert.equal(detail.pagesCoverage.of, started.length);
      assert.equal(detail.pagesCoverage.counted, started.length);
      if (row.phase === "Succeeded") assert.ok(detail.pagesDone > 0 && detail.pagesDone <= detail.pagesTotal);
    }
    assert.deepEqual([...cookies], ["results_session=anna"]);
    const head = await fetch(`${origin}/api/v1/jobs`, { method: "HEAD", headers: ANNA });
    assert.equal(head.headers.get("content-length"), answer.headers.get("content-length"));
    await head.body?.cancel();
  } finally {
    await site.shutdown();
    await results.shutdown();
    await cluster.close();
  }
});
