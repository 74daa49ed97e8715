import assert from "node:assert/strict";
import { progressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { campaignDetail, campaignPages } from "@/lib/campaigns/reader/campaign_detail.ts";
import type { CampaignObjects } from "@/lib/campaigns/source/campaign_source.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { pageSession } from "@/lib/results/session_check.ts";
import { condition, pod, terminated, warmupJob } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { live, LUND, NOTHING, NOW } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { ANNA, fakeSource, session } from "@/tests/routes/api/v1/web_fixture.ts";
import { webDeps } from "@/tests/routes/web_deps_fixture.ts";

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

const HOME = "http://site.example/";
const LUND_VOLUMES = { namespace: "batch-default", name: "lund", offset: 0 };

function pages(source: ReturnType<typeof fakeSource>) {
  const { campaigns, resultsUrl, now } = webDeps(source);
  return campaigns ? campaignPages({ ...campaigns, resultsUrl, now }) : assert.fail();
}

Deno.test("pages: a session is its user, none is null, and one that cannot be checked is an outage", async () => {
  const asAnna = new Request(HOME, { headers: ANNA });
  const found = await pageSession(session, asAnna);
  assert.ok(found !== null && found !== "outage");
  assert.equal(found.user, "anna");
  assert.equal(await pageSession(session, new Request(HOME)), null);
  assert.equal(await pageSession(() => Promise.reject(new HttpError(502, "no answer")), asAnna), "outage");
  await assert.rejects(pageSession(() => Promise.reject(new TypeError("a fault")), asAnna), TypeError);
});

Deno.test("pages: a cluster that does not answer is a problem for the page to show", async () => {
  const problem = new HttpError(502, "the cluster did not answer");
  const { list, detail } = pages(fakeSource({ campaigns: LUND, error: problem }));
  const request = new Request(HOME, { headers: ANNA });
  assert.deepEqual(await list(request, 20), { problem });
  assert.deepEqual(await detail(request, LUND_VOLUMES), { problem });
});

Deno.test("pages: a list has an age only where the cluster could not be followed of late", async () => {
  const ageOf = async (age: number) => {
    const answer = await pages(fakeSource({ age })).list(new Request(HOME, { headers: ANNA }), 20);
    return "ageMs" in answer ? answer.ageMs : assert.fail();
  };
  assert.equal(await ageOf(30_000), null);
  assert.equal(await ageOf(90_000), 90_000);
});
