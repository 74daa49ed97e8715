import assert from "node:assert/strict";
import fc from "fast-check";

import { failureWords } from "@/lib/pages/campaigns/campaign_problems.ts";

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
    ["verify failed: 2 missing, 0 failed missing=['0001', '0002'] failed=[]", "2 pages are missing (0001, 0002)."],
    ["verify failed: 3 missing, 0 failed missing=['0001', '00", "3 pages are missing (0001 and 2 more)."],
    ["verify failed: 3 missing, 0 failed mis", "3 pages are missing."],
    ["verify failed: all 12 processed pages failed failed=['1']", "No page of this volume gave a result."],
    ["verify failed: 0 missing, 0 failed", "It failed while checking results: verify failed: 0 missing, 0 failed."],
  ];
  for (const [error, sentence] of cases) {
    assert.equal(words(error, "verify", false), `${sentence} ${final}`, error);
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
    error: fc.oneof(fc.string({ unit: "binary" }), fc.constant("verify failed: 1 missing, 2 failed missing=['")),
  });
  fc.assert(fc.property(reason, fc.boolean(), (reason, isFinal) => {
    const sentences = failureWords(reason, isFinal).text;
    assert.match(sentences, /^[^\n]+\.$/);
    assert.doesNotMatch(sentences, /undefined|null/.test(reason.error) ? /$^/ : /undefined|null/);
  }));
});

Deno.test("failure: a final one ends alike while the Job is there and when only its record is left", () => {
  const live = failureWords({ stage: "stream", permanent: true, error: "OOMKilled (exit code 137)" }, true);
  const recorded = failureWords({ stage: null, permanent: null, error: "OOMKilled (exit code 137)" }, true);
  assert.equal(live.text, recorded.text);
});
