import assert from "node:assert/strict";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { campaignPath, runLogPath } from "@/lib/presentation/page_paths.ts";
import { readLogAddress } from "@/lib/presentation/log_address.ts";
import { loginErrorSentence } from "@/lib/presentation/login_sentences.ts";
import { unreachableSentence } from "@/lib/presentation/page_sentences.ts";
import { problemsOf } from "@/lib/presentation/problems.ts";
import { parseRunLog } from "@/tests/lib/presentation/run_log/parsed_log.ts";
import { logProblem, outcomeChip, stageCounts, stoppedBy } from "@/lib/presentation/run_log/words.ts";
import { volumeChip, volumeManifest, volumeSentence } from "@/lib/presentation/volume_words.ts";
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
  assert.equal(problems[1].sentence, "1 volume failed. Run it in a new campaign when the cause is mended.");
  assert.equal(problems[2].raw, "Evicted");
  assert.equal(problems[3].sentence, "Page 0007 could not be read: too dark");
  assert.deepEqual(problems.map(({ isTrouble }) => isTrouble), [true, true, false, false]);
});

Deno.test("problems: failed volumes of a campaign that goes on are said quietly", () => {
  const running = summary({ name: "a", counts: { total: 4, active: 1, done: 1, failed: 2 } });
  const { problems } = problemsOf(running, null, null);
  const quiet = ["2 volumes failed. Run them in a new campaign when this one has ended.", false];
  assert.deepEqual(problems.map(({ sentence, isTrouble }) => [sentence, isTrouble]), [quiet]);
  const [warmup, volumes] = problemsOf({ ...running, warmup: { phase: "failed" } }, null, null).problems;
  assert.equal(warmup.isTrouble, true);
  assert.deepEqual([volumes.sentence, volumes.isTrouble], quiet);
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

Deno.test("problems: why a campaign ended comes with the volumes that are not done", () => {
  const ended = (reason: string, failed: number, done: number, change: Partial<JobSummary> = {}) => {
    const phase = done > 0 ? "PartiallyFailed" : "Failed";
    const counts = { total: 4, active: 0, done, failed };
    const [first, ...others] =
      problemsOf(summary({ name: "a", phase, counts, ending: { reason, message: null }, ...change }), null, null)
        .problems;
    assert.deepEqual(others, []);
    assert.deepEqual([first.raw, first.isTrouble, first.volume], [reason, true, null]);
    return first.sentence;
  };
  assert.equal(
    ended("DeadlineExceeded", 0, 2),
    "The time allowed for the whole campaign ran out. 2 volumes did not finish. " +
      "Run them in a new campaign when the cause is mended.",
  );
  assert.equal(
    ended("MaxFailedIndexesExceeded", 2, 1),
    "More volumes failed than the campaign allows, so the cluster stopped it. 2 volumes failed and 1 did not finish. " +
      "Run them in a new campaign when the cause is mended.",
  );
  assert.match(ended("FailedIndexes", 1, 3), /^All volumes were tried.* 1 volume failed\. Run it in a new campaign/);
  assert.match(ended("BackoffLimitExceeded", 0, 0), /^More attempts failed .* 4 volumes did not finish\. Run them/);
  assert.match(ended("PodFailurePolicy", 0, 3), /^A volume failed in a way .* 1 volume did not finish\. Run it/);
  for (const reason of ["other", "constructor", "__proto__", "JobLost"]) {
    assert.match(ended(reason, 1, 3), new RegExp(`^The cluster ended the campaign: ${reason}\\. 1 volume failed`));
  }
  const gone = summary({
    name: "a",
    phase: "PartiallyFailed",
    jobGone: true,
    counts: { total: 4, active: 0, done: 1, failed: 1 },
  });
  assert.equal(problemsOf(gone, null, null).problems[0].sentence.split(". ")[0], "1 volume failed");
});

Deno.test("problems: the cluster's sentence for an ending is its raw text", () => {
  const ending = { reason: "PodFailurePolicy", message: "Container wrapper failed <b>" };
  const failed = summary({ name: "a", phase: "Failed", counts: { total: 1, active: 0, done: 0, failed: 1 }, ending });
  assert.equal(problemsOf(failed, null, null).problems[0].raw, "PodFailurePolicy: Container wrapper failed <b>");
});

Deno.test("problems: a met success policy and a Job that is being ended are said quietly", () => {
  const met = { reason: "SuccessPolicy", message: null };
  const counts = { total: 4, active: 0, done: 1, failed: 0 };
  const done = problemsOf(summary({ name: "a", phase: "Succeeded", counts, ending: met }), null, null).problems;
  assert.deepEqual(done.map(({ sentence, isTrouble }) => [sentence, isTrouble]), [
    ["The campaign ended as soon as its success policy was met. 3 volumes did not finish.", false],
  ]);
  const ending = { reason: "MaxFailedIndexesExceeded", message: null };
  const hint = problemsOf(summary({ name: "a", counts: { ...counts, failed: 2 }, ending }), null, null).problems;
  assert.equal(hint.length, 1);
  assert.match(
    hint[0].sentence,
    /^The cluster is ending this campaign\. More volumes failed .* 2 volumes failed\. Run/,
  );
  assert.equal(hint[0].isTrouble, false);
});

Deno.test("problems: a warm-up and the newest volume that cannot start say so", () => {
  const containerWaiting = { reason: "ImagePullBackOff", message: 'Back-off pulling image "x"' };
  const stuck = summary({ name: "a", warmup: { phase: "running", containerWaiting } });
  const [warmup] = problemsOf(stuck, null, null).problems;
  assert.deepEqual([warmup.sentence, warmup.raw, warmup.isTrouble], [
    "The container image for the warm-up could not be fetched. The cluster keeps trying.",
    'ImagePullBackOff: Back-off pulling image "x"',
    false,
  ]);
  assert.deepEqual(problemsOf({ ...stuck, phase: "Succeeded" }, null, null).problems, []);
  const latest = volume({ index: 3, id: "v-3", state: "active", progress: null, containerWaiting });
  const { problems } = problemsOf(job, detail(job, [latest], { latest }), NONE);
  assert.deepEqual(problems.map(({ volume, sentence }) => [volume, sentence]), [
    ["v-3", "The container image for the work on this volume could not be fetched. The cluster keeps trying."],
  ]);
  assert.deepEqual(problemsOf(job, detail(job, [latest], { latest }), new Set(["v-3"])).problems, []);
});

Deno.test("problems: what a loaded row tells is not told twice", () => {
  const shown = new Set(["v-3", "v-9"]);
  assert.deepEqual(problemsOf(job, detail(job, [broken], { lastError }), shown).problems, []);
});

Deno.test("volume words: an active volume says what it does, one that stands still for how long", () => {
  const active = volume({ index: 0, id: "v", state: "active" });
  const aged = (ageSeconds: number, stalledSince: string | null = null) => ({
    ...active,
    stalledSince,
    progress: active.progress && { ...active.progress, stage: "stream", ageSeconds, updatedAt: null },
  });
  assert.equal(volumeSentence(aged(8), SAMPLE_NOW).text, "Processing pages · 8 s ago");
  assert.equal(volumeChip(aged(8)).text, "active");
  const stalled = aged(2520, "2026-11-21T11:48:00Z");
  assert.equal(
    volumeSentence(stalled, SAMPLE_NOW).text,
    "No progress for 42 min while processing pages: its run log may say why.",
  );
  assert.deepEqual([volumeChip(stalled).text, volumeChip(stalled).tone], ["stalled", "warn"]);
});

Deno.test("volume words: ages grow after the read, are never below what was read, and are left out where they would stay", () => {
  const done = volume({ index: 0, id: "v" });
  const active = { ...done, state: "active" } as const;
  const stalled = { ...active, stalledSince: "2026-11-21T11:00:00Z" };
  const said = (now: number | null) => [done, active, stalled].map((volume) => volumeSentence(volume, now).text);
  const stage = "its run log may say why.";
  assert.deepEqual(said(SAMPLE_NOW - 60_000), ["Ended 30 min ago", "30 min ago", `No progress for 30 min: ${stage}`]);
  assert.deepEqual(said(SAMPLE_NOW + 1_800_000), ["Ended 1 h ago", "1 h ago", `No progress for 1 h: ${stage}`]);
  assert.deepEqual(said(null), ["", "", `No progress: ${stage}`]);
});

Deno.test("volume words: an active volume between two attempts says why the first one ended", () => {
  const between = { ...broken, state: "active" } as const;
  assert.match(volumeSentence(between, SAMPLE_NOW).text, /to free resources\. It will be tried again\.$/);
  assert.equal(volumeSentence(between, SAMPLE_NOW).raw, "Evicted");
});

Deno.test("volume words: an active volume says why its container does not start, a reason comes first", () => {
  const waiting = (reason: string, message: string | null = null) =>
    volumeSentence(
      volume({ index: 0, id: "v", state: "active", progress: null, containerWaiting: { reason, message } }),
      SAMPLE_NOW,
    );
  assert.deepEqual(waiting("CreateContainerConfigError", 'secret "s3" not found'), {
    text: "The container for the work on this volume could not be started. The cluster keeps trying.",
    raw: 'CreateContainerConfigError: secret "s3" not found',
  });
  assert.match(waiting("InvalidImageName").text, /^The container image .* could not be fetched\./);
  assert.match(waiting("CrashLoopBackOff").text, /^The container .* could not be started\./);
  assert.equal(waiting("New\nReason").text, "The container does not start: New Reason. The cluster keeps trying.");
  const both = { ...broken, state: "active", containerWaiting: { reason: "CrashLoopBackOff", message: null } } as const;
  assert.match(volumeSentence(both, SAMPLE_NOW).text, /to free resources/);
});

Deno.test("volume words: a volume that is not tried again says so", () => {
  const pending = volume({ index: 0, id: "v", state: "pending", progress: null });
  assert.deepEqual([volumeChip(pending).text, volumeSentence(pending, SAMPLE_NOW).text], ["waiting", ""]);
  const unfinished = { ...pending, final: true } as const;
  assert.equal(volumeChip(unfinished).text, "did not finish");
  assert.equal(volumeSentence(unfinished, SAMPLE_NOW).text, "The campaign ended before this volume was done.");
  const stopped = { ...broken, final: true } as const;
  for (const state of ["pending", "active"] as const) {
    assert.match(volumeSentence({ ...stopped, state }, SAMPLE_NOW).text, /Not tried again\.$/);
  }
});

Deno.test("volume words: a done volume with lost pages has a word and a colour of its own", () => {
  const lost = (failed: number) => {
    const done = volume({ index: 0, id: "v" });
    const lastError = { page: "0009", error: "too\n dark" };
    return { ...done, progress: done.progress && { ...done.progress, failed, lastError } };
  };
  assert.deepEqual(volumeChip(volume({ index: 0, id: "v" })), { text: "done", tone: "done" });
  assert.deepEqual(volumeChip(lost(1)), { text: "done, 1 page not read", tone: "warn" });
  assert.deepEqual(volumeChip(lost(2)), { text: "done, 2 pages not read", tone: "warn" });
  assert.equal(volumeSentence(lost(1), SAMPLE_NOW).text, "Page 0009 could not be read: too dark · ended 30 min ago");
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

Deno.test("volume words: a failed volume without a reason still gets a sentence", () => {
  assert.match(
    volumeSentence(volume({ index: 0, id: "v", state: "failed" }), SAMPLE_NOW).text,
    /nothing is left that says why/,
  );
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

Deno.test("run log words: the ending decides, then whether it is followed", () => {
  assert.equal(outcomeChip("finished", "yes").text, "finished");
  assert.equal(outcomeChip("retrying", "yes").tone, "warn");
  assert.notEqual(outcomeChip("retrying", "no").text, outcomeChip("retrying", "yes").text);
  assert.equal(outcomeChip(null, "yes").live, true);
  assert.equal(outcomeChip(null, "no").tone, "idle");
  assert.match(outcomeChip(null, "waiting").text, /waiting/);
  assert.match(outcomeChip("retrying", "stopped").text, /no longer/);
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
