import assert from "node:assert/strict";
import fc from "fast-check";

import type { JobSummary, Phase, Warmup } from "@/lib/campaigns/projection/types.ts";
import {
  failureWords,
  PROBLEMS,
  stageWords,
  unexplainedFailure,
  warmupWords,
} from "@/lib/presentation/problem_sentences.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";

function words(
  error: string,
  stage: string | null = null,
  permanent: boolean | null = null,
  isFinal = true,
): string {
  return failureWords({ stage, permanent, error }, isFinal).text;
}

const retried = "It will be tried again.";
const final = "Not tried again.";

Deno.test("failure: it says what happened", () => {
  const cases: [string, string | null, boolean | null, string][] = [
    [
      "DeadlineExceeded",
      "stream",
      false,
      "The time allowed for the work on this volume ran out.",
    ],
    [
      "stopped after MAX_SECONDS",
      null,
      null,
      "The time allowed for the work on this volume ran out.",
    ],
    [
      "SIGTERM",
      "stream",
      false,
      "The cluster stopped the work on this volume.",
    ],
    [
      "Evicted",
      null,
      null,
      "The cluster stopped the work on this volume to free resources.",
    ],
    [
      "OOMKilled (exit code 137)",
      null,
      null,
      "The work on this volume ran out of memory.",
    ],
    [
      "Error (exit code 1)",
      null,
      null,
      "The work on this volume broke off with an error (exit code 1).",
    ],
    [
      '{"stage": "str',
      null,
      null,
      "The volume stopped with a message that cannot be read.",
    ],
    ["", null, null, "The volume stopped without saying why."],
    [
      "no bucket",
      "config",
      true,
      "The deployment is not set up for this work: no bucket.",
    ],
    ["404", "setup", true, "The volume's manifest cannot be read: 404."],
    [
      "manifest unreadable: the archive answered 404",
      "setup",
      true,
      "The volume's manifest cannot be read: the archive answered 404.",
    ],
    ["manifest unreadable:", "setup", true, "The volume's manifest cannot be read: manifest unreadable:."],
    [
      "timeout",
      "setup",
      false,
      "It failed while reading the manifest: timeout.",
    ],
    [
      "no marker",
      "warmup",
      false,
      "The model was not made ready by the warm-up: no marker.",
    ],
    [
      "disk full.",
      "publish",
      false,
      "It failed while publishing results: disk full.",
    ],
    ["what\n  now?", "elsewhere", null, "It failed: what now?"],
  ];
  for (const [error, stage, permanent, sentence] of cases) {
    assert.equal(
      words(error, stage, permanent),
      `${sentence} ${final}`,
      error,
    );
  }
});

Deno.test("failure: it says whether the volume is tried again", () => {
  assert.ok(words("x", "stream", false, false).endsWith(retried));
  assert.ok(words("x", "stream", null, false).endsWith(retried));
  assert.ok(words("x", "stream", false).endsWith(final));
  assert.ok(words("x", "stream", true).endsWith(final));
  assert.ok(words("x", "stream", true, false).endsWith(final));
});

Deno.test("failed check of results: how many pages, and the names of up to three", () => {
  const cases: [string, string][] = [
    [
      "verify failed: 5 missing, 1 failed errors: 0001: x; missing=['0001', '0002', '0003', '0004', '0005'] failed=['0009']",
      "5 pages are missing (0001, 0002, 0003 and 2 more), 1 page is without a result (0009).",
    ],
    [
      "verify failed: 2 missing, 0 failed missing=['0001', '0002'] failed=[]",
      "2 pages are missing (0001, 0002).",
    ],
    [
      "verify failed: 3 missing, 0 failed missing=['0001', '00",
      "3 pages are missing (0001 and 2 more).",
    ],
    ["verify failed: 3 missing, 0 failed mis", "3 pages are missing."],
    [
      "verify failed: all 12 processed pages failed failed=['1']",
      "No page of this volume gave a result.",
    ],
    [
      "verify failed: 0 missing, 0 failed",
      "It failed while checking results: verify failed: 0 missing, 0 failed.",
    ],
  ];
  for (const [error, sentence] of cases) {
    assert.equal(
      words(error, "verify", false),
      `${sentence} ${final}`,
      error,
    );
  }
});

Deno.test("failure: a foreign text is cut, never inside a character", () => {
  const sentence = words("\u{1F600}".repeat(60_000), "stream", false);
  assert.ok([...sentence].length < 450);
  assert.ok(sentence.isWellFormed());
  assert.ok(sentence.includes("… "));
});

Deno.test("failure: any reason gives sentences on one line", () => {
  const reason = fc.record({
    stage: fc.option(fc.constantFrom("verify", "setup", "load", "__proto__")),
    permanent: fc.option(fc.boolean()),
    error: fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constant("verify failed: 1 missing, 2 failed missing=['"),
    ),
  });
  fc.assert(fc.property(reason, fc.boolean(), (reason, isFinal) => {
    const sentences = failureWords(reason, isFinal).text;
    assert.match(sentences, /^[^\n]+\.$/);
    assert.doesNotMatch(
      sentences,
      /undefined|null/.test(reason.error) ? /$^/ : /undefined|null/,
    );
  }));
});

Deno.test("failure: a final one ends alike while the Job is there and when only its record is left", () => {
  const live = failureWords({ stage: "stream", permanent: true, error: "OOMKilled (exit code 137)" }, true);
  const recorded = failureWords({ stage: null, permanent: null, error: "OOMKilled (exit code 137)" }, true);
  assert.equal(live.text, recorded.text);
});

Deno.test("failure: the cluster's words become sentences, with the words themselves beside them", () => {
  const cases: [string, string][] = [
    ["OOMKilled", "The work on this volume ran out of memory."],
    ["ImagePullBackOff", "The container image for the work on this volume could not be fetched."],
    ["ErrImagePull", "The container image for the work on this volume could not be fetched."],
    ["CreateContainerConfigError", "The container for the work on this volume could not be started."],
    ["ContainerCannotRun (exit code 127)", "The container for the work on this volume could not be started."],
    ["NodeShutdown", "The machine under the work on this volume was shut down or lost."],
    ["Preempting", "The cluster stopped the work on this volume to free resources."],
  ];
  for (const [error, sentence] of cases) {
    const reason = { stage: null, permanent: null, error };
    assert.deepEqual(failureWords(reason, true), { text: `${sentence} ${final}`, raw: error });
  }
  assert.equal(failureWords({ stage: "load", permanent: null, error: "no disk" }, true).raw, null, "it is in the text");
  assert.match(words("toString"), /^It failed: toString\./);
});

Deno.test("warm-up: a failed one is a problem with its cause, a missing one until the campaign has succeeded", () => {
  const counts = { total: 4, active: 0, done: 0, failed: 0 };
  const text = (warmup: Warmup, phase: Phase = "Running") =>
    warmupWords(summary({ name: "a", pipeline: "lion", warmup, phase, counts }));
  const failed = (error: string) => text({ phase: "failed", reason: { stage: null, permanent: null, error } });
  const follows = "No volume starts before it succeeds: mend the cause, then start the warm-up again.";
  assert.deepEqual(failed("no disk"), { text: `The warm-up failed: no disk. ${follows}`, raw: null });
  assert.deepEqual(failed("OSError: No space left on device: /m"), {
    text: `The warm-up failed: the disk for models is full. ${follows}`,
    raw: "OSError: No space left on device: /m",
  });
  assert.deepEqual(failed("ImagePullBackOff"), {
    text: `The warm-up failed. The container image for the warm-up could not be fetched. ${follows}`,
    raw: "ImagePullBackOff",
  });
  assert.deepEqual(text({ phase: "failed" }), { text: `The warm-up failed. ${follows}`, raw: null });
  assert.match(text({ phase: "missing" })?.text ?? "", /^There is no warm-up of the pipeline lion/);
  assert.equal(text({ phase: "missing" }, "Succeeded"), null);
  for (const phase of ["pending", "running", "succeeded"] as const) assert.equal(text({ phase }), null);
});

Deno.test("warm-up: volumes whose pods wait for it have not started", () => {
  const waiting = { code: "warmup", reason: "WarmupFailed", message: null, since: null } as const;
  const counts = { total: 6, active: 2, done: 0, failed: 0 };
  const text = (warmup: Warmup) => warmupWords(summary({ name: "a", pipeline: "lion", warmup, counts, waiting }))?.text;
  assert.match(text({ phase: "failed" }) ?? "", /No volume starts before it succeeds/);
  assert.match(text({ phase: "missing" }) ?? "", /no volume starts before one succeeds/);
});

Deno.test("warm-up: of a campaign that has begun or is over, only the next one of its pipeline waits for it", () => {
  const none = { total: 4, active: 0, done: 0, failed: 0 };
  const begun: Partial<JobSummary>[] = [
    { counts: { ...none, active: 1 } },
    { counts: { ...none, done: 1 } },
    { counts: { ...none, failed: 1 } },
    { counts: none, phase: "Failed" },
    { counts: none, phase: "Unknown", jobGone: true },
  ];
  for (const change of begun) {
    const text = (warmup: Warmup) => warmupWords(summary({ name: "a", pipeline: "lion", warmup, ...change }))?.text;
    assert.equal(
      text({ phase: "missing" }),
      "There is no warm-up of the pipeline lion, and the next campaign of this pipeline waits for one.",
    );
    assert.equal(
      text({ phase: "failed" }),
      "The warm-up failed. The next campaign of the pipeline lion does not start before it succeeds: " +
        "mend the cause, then start the warm-up again.",
    );
  }
});

Deno.test("words: stages have some, a stage that is over or unknown has none", () => {
  assert.equal(stageWords("stream"), "processing pages");
  for (const stage of ["done", "failed", "constructor", null]) {
    assert.equal(stageWords(stage), "");
  }
  assert.match(PROBLEMS.forbidden, /may not read/);
  assert.ok(unexplainedFailure().text.endsWith(final));
});
