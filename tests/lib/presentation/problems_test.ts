import assert from "node:assert/strict";

import { readLogAddress } from "@/lib/presentation/log_address.ts";
import { loginErrorSentence } from "@/lib/presentation/login_sentences.ts";
import { unreachableSentence } from "@/lib/presentation/page_sentences.ts";
import { problemsOf } from "@/lib/presentation/problems.ts";
import { parseRunLog } from "@/tests/lib/presentation/run_log/parsed_log.ts";
import { logProblem, outcomeChip, stageCounts, stoppedBy } from "@/lib/presentation/run_log/words.ts";
import { volumeChip, volumeLines, volumeManifest } from "@/lib/presentation/volume_words.ts";
import { detail, summary, volume } from "@/tests/site/fake_campaigns.ts";

const job = summary({ name: "a" });
const broken = volume({
  index: 3,
  id: "v-3",
  state: "failed",
  reason: { stage: null, permanent: null, error: "Evicted" },
});
const lastError = { page: "0007", error: "too\n dark", volume: "v-9", logUrl: "http://127.0.0.1/results/l.txt" };

Deno.test("problems: the warm-up, then failed volumes, then the newest page error", () => {
  const failed = summary({ name: "a", warmup: { phase: "failed" } });
  const problems = problemsOf(failed, detail(failed, [broken], { lastError }), new Set());
  assert.deepEqual(problems.map((problem) => problem.volume), [null, "v-3", "v-9"]);
  assert.match(problems[0].sentence, /^The warm-up failed/);
  assert.equal(problems[2].sentence, "Page 0007 failed: too dark");
});

Deno.test("problems: what a loaded row tells is not told twice", () => {
  assert.deepEqual(problemsOf(job, detail(job, [broken], { lastError }), new Set(["v-3", "v-9"])), []);
});

Deno.test("volume words: a silent running volume may be stalled", () => {
  const silent = volume({ index: 0, id: "v", state: "active" });
  const aged = (ageSeconds: number) => ({
    ...silent,
    progress: silent.progress && { ...silent.progress, stage: "stream", ageSeconds },
  });
  assert.equal(volumeLines(aged(8))[0].text, "processing pages · updated 8 s ago");
  assert.equal(volumeLines(aged(2520))[0].text, "no update for 42 min: may be stalled");
  assert.equal(volumeChip(aged(2520)).tone, "warn");
});

Deno.test("volume words: a volume the reader may not read says only that", () => {
  const lines = volumeLines({ ...broken, forbidden: true });
  assert.equal(lines.length, 1);
  assert.match(lines[0].text, /may not read/);
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

Deno.test("volume words: a failed volume without a reason still gets a sentence", () => {
  assert.equal(volumeLines(volume({ index: 0, id: "v", state: "failed" })).length, 1);
});

Deno.test("log address: namespace, pipeline and volume, decoded", () => {
  const href = "http://h/results/ns/status/logs/lejon%20v2/g%C3%B6teborg%2F1.txt";
  assert.deepEqual(readLogAddress(href), { volume: "göteborg/1", pipeline: "lejon v2", namespace: "ns" });
  assert.deepEqual(readLogAddress("http://h/results/x/%E0%A4%A.txt").volume, "%E0%A4%A");
});

Deno.test("run log words: the ending decides, then whether it is followed", () => {
  assert.equal(outcomeChip("finished", "yes").text, "finished");
  assert.equal(outcomeChip("retrying", "yes").tone, "warn");
  assert.notEqual(outcomeChip("retrying", "no").text, outcomeChip("retrying", "yes").text);
  assert.equal(outcomeChip(null, "yes").live, true);
  assert.equal(outcomeChip(null, "no").tone, "idle");
  assert.match(outcomeChip(null, "waiting").text, /waiting/);
  assert.match(outcomeChip("retrying", "stopped").text, /no longer/);
});

Deno.test("run log words: a stage tells its duration, lines and complaints", () => {
  const { stages } = parseRunLog(
    "2026-11-21 08:15:00,000 INFO [v] 3 pages in manifest\n2026-11-21 08:15:12,300 ERROR permanent failure in setup: y\n",
  );
  assert.equal(stageCounts(stages[0]), "2 lines, 1 error");
  assert.equal(stages[0].seconds, 12.3);
  assert.equal(stoppedBy(stages[0]), "permanent failure in setup: y");
  assert.equal(stoppedBy(parseRunLog("fine").stages[0]), null);
});

Deno.test("sentences: an unknown code or status never puts foreign words into a page", () => {
  assert.match(loginErrorSentence("<b>call 123</b>"), /^The login did not work/);
  assert.match(loginErrorSentence("401"), /wrong/);
  assert.match(logProblem(418), /418/);
  assert.match(unreachableSentence(502, { detail: "the results service did not answer" }), /results store/);
  assert.match(unreachableSentence(502, { detail: "other" }), /cluster/);
});

Deno.test("problems: a log is followed while its volume may still be run", () => {
  const live = (phase: "Running" | "Succeeded", states: Partial<Record<string, "done" | "active">>) => {
    const campaign = summary({ name: "a", phase });
    const volumes = Object.entries(states).map(([id, state], index) => volume({ index, id, state }));
    return problemsOf(campaign, detail(campaign, [broken, ...volumes], { lastError }), new Set())
      .map(({ log }) => log?.live);
  };
  assert.deepEqual(live("Running", { "v-9": "active" }), [true, true]);
  assert.deepEqual(live("Running", { "v-9": "done" }), [true, false]);
  assert.deepEqual(live("Running", {}), [true, true]);
  assert.deepEqual(live("Succeeded", {}), [true, false]);
});
