import assert from "node:assert/strict";
import { campaignApi } from "@/lib/pages/campaigns/campaign_api_client.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";

const job = summary({ name: "rådhusrätten" });
const { signal } = new AbortController();
const answering = (body: unknown) => campaignApi("/api/v1", () => Promise.resolve(Response.json(body)));

Deno.test("campaign API: a bad row of the list is left out and counted, a list of bad rows cannot be read", async () => {
  const list = await answering([job, { ...job, phase: 1 }, null, { name: "x" }]).list(20, signal);
  assert.deepEqual(list, { kind: "ok", value: { jobs: [job], skipped: 3, reapedTotal: 0, ageSeconds: null } });
  assert.equal((await answering([{}]).list(20, signal)).kind, "unreachable");
});

Deno.test("campaign API: a body that is no list and no detail cannot be read", async () => {
  for (const body of [{ jobs: [] }, null]) {
    assert.equal((await answering(body).list(20, signal)).kind, "unreachable");
    assert.equal((await answering(body).detail(job, { offset: 0, limit: 20 }, signal)).kind, "unreachable");
  }
});
