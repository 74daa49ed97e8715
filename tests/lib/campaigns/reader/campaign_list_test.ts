import assert from "node:assert/strict";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { CampaignSnapshot, CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import { condition, job, pod, terminated, warmupJob } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { record, status } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { EMPTY } from "@/tests/routes/api/v1/web_fixture.ts";

const REQUEST = { resultsUrl: "https://campaigns.example.org/results", reaped: 20 };

/** A source that hands out one snapshot until it is given another. */
function changing(first: Partial<CampaignSnapshot>) {
  const state = { snapshot: { ...EMPTY, ...first }, pods: [pod(null)], error: null as Error | null };
  const source: CampaignSource = {
    list: () => state.error ? Promise.reject(state.error) : Promise.resolve(state.snapshot),
    campaign: () => Promise.resolve(null),
    pods: () => state.pods,
    age: () => 0,
    lastKnown: () => 0,
  };
  return { state, lists: new CampaignLists(source) };
}

const SUCCEEDED = { phase: "Succeeded", volumesTotal: "2", volumesDone: "2" };
const FIRST = {
  jobs: [
    job({ metadata: { name: "a", creationTimestamp: "2025-11-20T08:00:00Z" } }),
    job({ metadata: { name: "b", creationTimestamp: "2025-11-21T08:00:00Z" } }),
  ],
  records: [record("old", "2025-11-01T00:00:00Z"), record("older", "2025-10-01T00:00:00Z")],
  statuses: [status("old", SUCCEEDED), status("older", SUCCEEDED)],
};

function text({ body }: { body: Uint8Array }): string {
  return new TextDecoder().decode(body);
}

Deno.test("campaign lists: the bytes are the JSON of the list, with letters of several bytes and without any campaign", async () => {
  const reason = terminated("warmup", { exitCode: 1, message: '{"error":"åtkomst nekad 😀 \\ud800 \\u2028"}' });
  const failed = warmupJob({ metadata: { name: "w" }, status: { conditions: [condition("Failed", "")] } });
  const { state, lists } = changing({ ...FIRST, warmups: [failed] });
  state.pods = [pod(null, { containerStatuses: [reason] })];
  const { jobs, reapedTotal } = await lists.list(REQUEST);
  const bytes = await lists.bytes(REQUEST);
  assert.equal(text(bytes), JSON.stringify(jobs));
  assert.deepEqual(jobs.map(({ name }) => name), ["b", "a", "old", "older"]);
  assert.match(text(bytes), /åtkomst nekad 😀 \\\\?ud800/);
  assert.deepEqual([reapedTotal, bytes.reapedTotal], [2, 2]);
  assert.equal(text(await changing({}).lists.bytes(REQUEST)), "[]");
});

Deno.test("campaign lists: the same bytes for as long as the source hands out the same", async () => {
  const { state, lists } = changing(FIRST);
  const [first, second] = await Promise.all([lists.bytes(REQUEST), lists.bytes(REQUEST)]);
  assert.equal(first.body, second.body);
  assert.equal((await lists.bytes(REQUEST)).body, first.body);
  state.snapshot = { ...state.snapshot };
  const third = await lists.bytes(REQUEST);
  assert.notEqual(third.body, first.body);
  assert.deepEqual(third.body, first.body);
});

Deno.test("campaign lists: lists for other results URLs and other numbers of reaped campaigns are separate", async () => {
  const { lists } = changing(FIRST);
  const [all, one, none] = await Promise.all([20, 1, 0].map((reaped) => lists.list({ ...REQUEST, reaped })));
  assert.deepEqual([all, one, none].map(({ jobs }) => jobs.length), [4, 3, 2]);
  assert.deepEqual([all, one, none].map(({ reapedTotal }) => reapedTotal), [2, 2, 2]);
  const other = await lists.bytes({ ...REQUEST, resultsUrl: "https://other.example.org/results" });
  assert.ok(!text(other).includes("campaigns.example.org"));
  assert.ok(!text(await lists.bytes(REQUEST)).includes("other.example.org"));
});

Deno.test("campaign lists: a row changes with its warm-up, the warm-up's reason, and its pipeline", async () => {
  const { state, lists } = changing(FIRST);
  const rows = async () => (await lists.list(REQUEST)).jobs;
  const bare = await rows();
  const use = (parts: Partial<CampaignSnapshot>) => state.snapshot = { ...state.snapshot, ...parts };
  use({ warmups: [warmupJob({ metadata: { name: "w" }, status: { active: 1 } })] });
  const running = await rows();
  assert.deepEqual([bare[0].warmup.phase, running[0].warmup.phase], ["missing", "running"]);
  use({ warmups: [warmupJob({ metadata: { name: "w" }, status: { active: 1 } })] });
  assert.equal((await rows())[0], running[0]);
  for (const reason of ["ErrImagePull", "ImagePullBackOff"]) {
    state.pods = [
      pod(null, { phase: "Pending", containerStatuses: [{ name: "warmup", state: { waiting: { reason } } }] }),
    ];
    use({});
    assert.equal((await rows())[0].warmup.containerWaiting?.reason, reason);
  }
  const failed = warmupJob({ metadata: { name: "w" }, status: { conditions: [condition("Failed", "")] } });
  for (const error of ["no space", "no model"]) {
    state.pods = [pod(null, { containerStatuses: [terminated("warmup", { exitCode: 1, message: error })] })];
    use({ warmups: [failed] });
    assert.equal((await rows())[0].warmup.reason?.error, error);
  }
  use({ pipelines: [{ namespace: "batch-default", pipeline: "lion-v2", scoresQuality: true }] });
  assert.deepEqual((await rows()).map(({ qualityPrediction }) => qualityPrediction), [true, true, true, true]);
});

Deno.test("campaign lists: a failure reaches the waiting callers, and the next one lists again", async () => {
  const { state, lists } = changing(FIRST);
  state.error = new ClusterUnavailable("away");
  await assert.rejects(lists.bytes(REQUEST), ClusterUnavailable);
  state.error = null;
  assert.equal((await lists.list(REQUEST)).jobs.length, 4);
});
