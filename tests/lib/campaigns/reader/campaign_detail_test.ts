import assert from "node:assert/strict";
import { progressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { campaignDetail } from "@/lib/campaigns/reader/campaign_detail.ts";
import type { CampaignObjects } from "@/lib/campaigns/source/campaign_source.ts";
import { condition, pod, terminated, warmupJob } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { live, NOTHING, NOW } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";

function detailOf(
  objects: CampaignObjects,
  pods: ReturnType<typeof pod>[],
  resultsUrl = "https://a.example.org/results",
) {
  const now = () => NOW;
  return campaignDetail({
    source: fakeSource({ campaigns: { "batch-default/lund": objects }, pods: { "batch-default/w": pods } }),
    progress: progressReader({ send: NOTHING, base: "http://results.test/results", now, sessionMs: 3_600_000 }),
    tallies: new Tallies(now, 3_600_000),
    now,
  }, {
    namespace: "batch-default",
    name: "lund",
    page: { offset: 0, limit: 200 },
    resultsUrl,
    viewer: { digest: "anna", cookie: "c=1" },
  });
}

Deno.test("campaign detail: another results URL and another reason of the warm-up show at once", async () => {
  const failed = warmupJob({ metadata: { name: "w" }, status: { conditions: [condition("Failed", "")] } });
  const objects = live({ warmup: failed });
  const saying = (
    error: string,
  ) => [pod(null, { containerStatuses: [terminated("warmup", { exitCode: 1, message: error })] })];
  assert.equal((await detailOf(objects, saying("no space")))?.warmup.reason?.error, "no space");
  assert.equal((await detailOf(objects, saying("no model")))?.warmup.reason?.error, "no model");
  const elsewhere = await detailOf(objects, [], "https://b.example.org/results");
  assert.ok(elsewhere?.volumes.every(({ logUrl }) => logUrl.startsWith("https://b.example.org/")));
  assert.ok((await detailOf(objects, []))?.resultsBase.startsWith("https://a.example.org/"));
});
