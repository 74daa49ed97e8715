import assert from "node:assert/strict";

import { campaignPath, runLogPath } from "@/lib/pages/page_paths.ts";
import { readLogAddress } from "@/lib/pages/volume_address.ts";
import { loginErrorSentence } from "@/lib/pages/login_sentences.ts";
import { unreachableSentence } from "@/lib/pages/page_sentences.ts";
import { problemsOf } from "@/lib/pages/campaigns/campaign_problems.ts";
import { parseRunLog } from "@/tests/lib/pages/log/parsed_log.ts";
import { logProblem, stageCounts, stoppedBy } from "@/lib/pages/log/log_sentences.ts";
import { volumeManifest, volumeSentence } from "@/lib/pages/campaigns/volume_filter.ts";
import { detail, SAMPLE_NOW, summary, volume } from "@/tests/site/fake_campaigns.ts";

const job = summary({ name: "a" });
const broken = volume({
  index: 3,
  id: "v-3",
  state: "failed",
  reason: { stage: null, permanent: null, error: "Evicted" },
});
const lastError = { page: "0007", error: "too\n dark", volume: "v-9", logUrl: "http://127.0.0.1/results/l.txt" };

const NONE: ReadonlySet<string> = new Set();

Deno.test("problems: the warm-up, then failed volumes, then the newest page error", () => {
  const counts = { total: 4, active: 0, done: 3, failed: 1 };
  const failed = summary({ name: "a", phase: "PartiallyFailed", warmup: { phase: "failed" }, counts });
  const { problems } = problemsOf(failed, detail(failed, [broken], { lastError }), NONE);
  assert.deepEqual(problems.map((problem) => problem.volume), [null, null, "v-3", "v-9"]);
  assert.match(problems[0].sentence, /^The warm-up failed/);
  assert.equal(problems[1].sentence, "1 volume failed. Run it in a new campaign when the cause is fixed.");
  assert.equal(problems[2].raw, "Evicted");
  assert.equal(problems[3].sentence, "Page 0007 could not be read: too dark");
  assert.deepEqual(problems.map(({ isTrouble }) => isTrouble), [true, true, false, false]);
});

Deno.test("problems: before the detail is read it is known how many there will be", () => {
  for (const failed of [0, 1, 3, 50]) {
    const counts = { total: 60, active: 0, done: 60 - failed, failed };
    const job = summary({ name: "a", phase: failed > 0 ? "PartiallyFailed" : "Succeeded", counts });
    const volumes = Array.from({ length: failed }, (_, index) => volume({ index, id: `v${index}`, state: "failed" }));
    const { expected, problems } = problemsOf(job, detail(job, volumes, { lastError }), null);
    assert.equal(problemsOf(job, null, null).expected, expected, `${failed}`);
    assert.equal(problems.length, expected, "a folded card tells of lost pages elsewhere");
  }
});

Deno.test("problems: what a loaded row tells is not told twice", () => {
  const shown = new Set(["v-3", "v-9"]);
  assert.deepEqual(problemsOf(job, detail(job, [broken], { lastError }), shown).problems, []);
});

Deno.test("volume words: a volume the reader may not read says only that", () => {
  assert.match(volumeSentence({ ...broken, forbidden: true }, SAMPLE_NOW).text, /may not read/);
});

Deno.test("volume words: a name opens the published manifest, else the source's, else nothing", () => {
  const sourceUrl = "https://archive.example/iiif/v/manifest.json";
  const active = { ...volume({ index: 0, id: "v", state: "active" }), sourceUrl };
  const published = (viewerPublished: boolean) => ({
    ...active,
    progress: active.progress && { ...active.progress, viewerPublished },
  });
  assert.equal(volumeManifest(published(false)), sourceUrl);
  assert.equal(volumeManifest(published(true)), active.iiifUrl);
  assert.equal(volumeManifest({ ...active, progress: null, state: "done" }), active.iiifUrl);
  assert.equal(volumeManifest({ ...published(false), sourceUrl: null }), null);
  assert.equal(volumeManifest({ ...active, state: "done", forbidden: true }), null);
});

Deno.test("log address: namespace, pipeline and volume, decoded", () => {
  const href = "http://h/results/ns/status/logs/lejon%20v2/g%C3%B6teborg%2F1.txt";
  assert.deepEqual(readLogAddress(href), { volume: "göteborg/1", pipeline: "lejon v2", namespace: "ns" });
  assert.deepEqual(readLogAddress("http://h/results/x/%E0%A4%A.txt").volume, "%E0%A4%A");
});

Deno.test("log address: the page of a run log names the campaign that it was opened from", () => {
  const campaign = { namespace: "batch", name: "svea" };
  const run = { logUrl: "http://h/results/l å.txt", manifestUrl: null, live: false };
  assert.equal(runLogPath(run, campaign), "/log?log=http%3A%2F%2Fh%2Fresults%2Fl%20%C3%A5.txt&campaign=batch%2Fsvea");
  assert.equal(
    runLogPath({ ...run, logUrl: "l", manifestUrl: "m", live: true }, campaign),
    "/log?log=l&manifest=m&live=1&campaign=batch%2Fsvea",
  );
  assert.equal(campaignPath("batch", "svea"), "/?q=svea&open=batch%2Fsvea#open-campaign");
});

Deno.test("run log words: a stage has its duration, lines and complaints", () => {
  const { stages } = parseRunLog(
    "2026-11-21 08:15:00,000 INFO [v] 3 pages in manifest\n2026-11-21 08:15:12,300 ERROR permanent failure in setup: y\n",
  );
  assert.equal(stageCounts(stages[0]), "2 lines, 1 error");
  const requests = [200, 200, 503].map((status) =>
    `2026-11-21 08:15:05,000 INFO HTTP Request: GET x "HTTP/1.1 ${status} X"`
  );
  const [setup] = parseRunLog([...requests, "fine", requests[0]].join("\n")).stages;
  assert.equal(stageCounts(setup), "5 lines, 4 requests: 3 answered 200, 1 answered 503");
  assert.equal(stages[0].seconds, 12.3);
  assert.equal(stoppedBy(stages[0]), "permanent failure in setup: y");
  assert.equal(stoppedBy(parseRunLog("fine").stages[0]), null);
});

Deno.test("sentences: an unknown code or status never puts foreign words into a page", () => {
  assert.match(loginErrorSentence("<b>call 123</b>"), /^The login did not work/);
  assert.match(loginErrorSentence("401"), /wrong/);
  assert.match(logProblem(418), /418/);
  assert.match(unreachableSentence(502, { detail: "in other words", code: "results_unavailable" }), /results store/);
  assert.match(unreachableSentence(502, { detail: "other" }), /cluster/);
});

Deno.test("problems: a log is followed while its volume may still be run", () => {
  const live = (phase: "Running" | "Succeeded", states: Partial<Record<string, "done" | "active">>) => {
    const campaign = summary({ name: "a", phase });
    const volumes = Object.entries(states).map(([id, state], index) => volume({ index, id, state }));
    return problemsOf(campaign, detail(campaign, [broken, ...volumes], { lastError }), NONE).problems
      .map(({ log }) => log?.live);
  };
  assert.deepEqual(live("Running", { "v-9": "active" }), [true, true]);
  assert.deepEqual(live("Running", { "v-9": "done" }), [true, false]);
  assert.deepEqual(live("Running", {}), [true, true]);
  assert.deepEqual(live("Succeeded", {}), [true, false]);
});
