import assert from "node:assert/strict";
import fc from "fast-check";
import {
  failureSentences,
  forbiddenSentence,
  stageWords,
  unexplainedFailure,
  warmupSentence,
} from "@/lib/presentation/problem_sentences.ts";

function told(
  error: string,
  stage: string | null = null,
  permanent: boolean | null = null,
  isFinal = true,
): string {
  return failureSentences({ stage, permanent, error }, isFinal);
}

const retried = "It will be tried again.";
const exhausted = "All retries are used: run this volume in a new campaign.";
const useless = "It is not tried again: when the cause is mended, run this volume in a new campaign.";

Deno.test("failure: it says what happened", () => {
  const cases: [string, string | null, boolean | null, string][] = [
    [
      "DeadlineExceeded",
      "stream",
      false,
      "The time allowed for this volume ran out.",
    ],
    [
      "stopped after MAX_SECONDS",
      null,
      null,
      "The time allowed for this volume ran out.",
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
      "The work on this volume broke off (out of memory, exit code 137).",
    ],
    [
      "Error (exit code 1)",
      null,
      null,
      "The work on this volume broke off (an error, exit code 1).",
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
      told(error, stage, permanent),
      `${sentence} ${permanent ? useless : exhausted}`,
      error,
    );
  }
});

Deno.test("failure: it says whether the volume is tried again", () => {
  assert.ok(told("x", "stream", false, false).endsWith(retried));
  assert.ok(told("x", "stream", null, false).endsWith(retried));
  assert.ok(told("x", "stream", false).endsWith(exhausted));
  assert.ok(told("x", "stream", true).endsWith(useless));
  assert.ok(told("x", "stream", true, false).endsWith(useless));
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
      told(error, "verify", false),
      `${sentence} ${exhausted}`,
      error,
    );
  }
});

Deno.test("failure: a foreign text is cut, never inside a character", () => {
  const sentence = told("\u{1F600}".repeat(60_000), "stream", false);
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
    const sentences = failureSentences(reason, isFinal);
    assert.match(sentences, /^[^\n]+\.$/);
    assert.doesNotMatch(
      sentences,
      /undefined|null/.test(reason.error) ? /$^/ : /undefined|null/,
    );
  }));
});

Deno.test("warm-up: only a failed one is a problem", () => {
  const reason = { stage: null, permanent: null, error: "disk full" };
  assert.equal(
    warmupSentence({ phase: "failed", reason }),
    "The warm-up failed: disk full. No volume starts before a warm-up of this pipeline succeeds.",
  );
  assert.match(
    warmupSentence({ phase: "failed" }) ?? "",
    /^The warm-up failed\. /,
  );
  for (const phase of ["missing", "pending", "running", "succeeded"] as const) {
    assert.equal(warmupSentence({ phase }), null);
  }
});

Deno.test("words: stages have some, a stage that is over or unknown has none", () => {
  assert.equal(stageWords("stream"), "processing pages");
  for (const stage of ["done", "failed", "constructor", null]) {
    assert.equal(stageWords(stage), "");
  }
  assert.match(forbiddenSentence(), /may not read/);
  assert.ok(unexplainedFailure().endsWith(exhausted));
});
