import assert from "node:assert/strict";
import { metricsPage } from "@/tools/docs/metrics_docs.ts";

const PAGE = new URL("../../docs/metrics.md", import.meta.url);

Deno.test("docs: docs/metrics.md is the page that `deno task docs` prints", async () => {
  assert.equal(await Deno.readTextFile(PAGE), metricsPage());
});
