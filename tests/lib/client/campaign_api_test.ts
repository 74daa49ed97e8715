import assert from "node:assert/strict";
import { campaignApi } from "@/lib/client/campaign_api.ts";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const job = summary({ name: "rådhusrätten" });
const { signal } = new AbortController();

function answering(body: unknown, headers: Record<string, string> = {}) {
  return campaignApi("/api/v1", () => Promise.resolve(Response.json(body, { headers })));
}

Deno.test("campaign API: a bad row of the list is left out and counted", async () => {
  const api = answering([job, { ...job, phase: 1 }, null, { name: "x" }], { "X-Reaped-Total": "7" });
  const value = { jobs: [job], skipped: 3, reapedTotal: 7, ageSeconds: null };
  assert.deepEqual(await api.list(20, signal), { kind: "ok", value });
});

Deno.test("campaign API: a list without a good row and a detail without volumes cannot be read", async () => {
  for (const body of [[{}], { jobs: [] }, null]) {
    assert.equal((await answering(body).list(20, signal)).kind, "unreachable");
  }
  const page = { offset: 0, limit: 20 };
  assert.equal((await answering(job).detail(job, page, signal)).kind, "unreachable");
  const value = detail(job, []);
  assert.deepEqual(await answering(value).detail(job, page, signal), { kind: "ok", value });
});
