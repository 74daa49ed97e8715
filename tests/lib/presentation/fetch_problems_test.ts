import assert from "node:assert/strict";

import { type FetchProblem, fetchProblemSentence } from "@/lib/presentation/fetch_problems.ts";

const ours = { name: "The log", isOurs: true };
const foreign = { name: "The manifest", isOurs: false };

Deno.test("fetch problems: each has a sentence that begins with the file's name and says what to do", () => {
  const problems: FetchProblem[] = [400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 504, "unreachable", "slow"];
  for (const file of [ours, foreign]) {
    for (const problem of [...problems, "too large" as const]) {
      const sentence = fetchProblemSentence(problem, file);
      assert.match(sentence, new RegExp(`^${file.name} (?:cannot be|did not|is too)`), String(problem));
      assert.match(sentence, /(?:Log in|Ask|[Tt]ry again|Check|check|Open)/, String(problem));
    }
  }
});

Deno.test("fetch problems: the site's login and store count for its own files alone", () => {
  assert.match(fetchProblemSentence(401, ours), /you are not logged in/);
  assert.match(fetchProblemSentence(401, foreign), /a login of its own/);
  assert.match(fetchProblemSentence(503, ours), /results store does not answer/);
  assert.match(fetchProblemSentence(503, foreign), /failed with status 503/);
  assert.match(fetchProblemSentence("unreachable", foreign), /CORS/);
  assert.ok(!/CORS/.test(fetchProblemSentence("unreachable", ours)));
});

Deno.test("fetch problems: a file may have a sentence of its own for a problem", () => {
  const log = { ...ours, own: { 404: "There is no log yet." } };
  assert.equal(fetchProblemSentence(404, log), "There is no log yet.");
  assert.match(fetchProblemSentence(410, log), /^The log cannot be read/);
});
