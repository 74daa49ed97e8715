import assert from "node:assert/strict";
import { CONVENTIONS, labelNames, selectors } from "@/lib/campaigns/projection/conventions.ts";

Deno.test("conventions: the selectors tell campaign objects apart", () => {
  assert.deepEqual(selectors(CONVENTIONS.htrflow), {
    campaignJobs: "app=htrflow-batch",
    warmupJobs: "app=htrflow-warmup",
    records:
      "htrflow.riksarkivet.se/managed-by=converter,htrflow.riksarkivet.se/campaign,htrflow.riksarkivet.se/kind!=status",
    statusRecords:
      "htrflow.riksarkivet.se/managed-by=converter,htrflow.riksarkivet.se/campaign,htrflow.riksarkivet.se/kind=status",
    pipelines:
      "htrflow.riksarkivet.se/managed-by=converter,htrflow.riksarkivet.se/pipeline,!htrflow.riksarkivet.se/campaign",
  });
});

Deno.test("conventions: the default preset uses our own domain", () => {
  assert.equal(labelNames(CONVENTIONS.stackroom).campaign, "campaigns.stackroom.dev/campaign");
  assert.equal(CONVENTIONS.stackroom.cookieStem, "results_session");
});
