import assert from "node:assert/strict";
import { resultsUrlFor } from "@/compose/results_url.ts";

Deno.test("results URL: as set, of the request's own origin, or none", () => {
  const request = new Request("http://127.0.0.1:8000/api/v1/jobs?reaped=1");
  assert.equal(
    resultsUrlFor({ kind: "fixed", url: "https://a.example/results/" }, request),
    "https://a.example/results",
  );
  assert.equal(resultsUrlFor({ kind: "own-origin" }, request), "http://127.0.0.1:8000/results");
  assert.equal(resultsUrlFor({ kind: "none" }, request), "");
});
