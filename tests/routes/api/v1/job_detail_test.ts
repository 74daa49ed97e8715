import assert from "node:assert/strict";
import type { ResultsFetch } from "@/lib/campaigns/progress/progress_reader.ts";
import { readJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { NO_PIPELINE } from "@/lib/campaigns/projection/types.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import type { CampaignObjects } from "@/lib/campaigns/source/campaign_source.ts";
import { job, jobObject, names, pod, terminated } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { BO, fakeSource } from "./web_fixture.ts";

import { detailed, jobsApp, listed, live, LUND, NOW, record, status } from "./jobs_fixture.ts";

Deno.test("detail: rows, sums, failures, latest, pipeline and progress of a live campaign", async () => {
  const files: Record<string, object> = {
    a: { pages_total: 5, pages_done: 5, updated_at: "2025-11-20T10:00:00Z", viewer_published: true },
    b: { pages_total: 7, pages_done: 2, errors: 1, updated_at: "2025-11-20T11:59:00Z", stage: "stream" },
    d: { pages_total: 3, pages_failed: 3, last_error: { page: "0001", error: "blank" } },
  };
  const asked: string[] = [];
  const send: ResultsFetch = (url) => {
    const id = new URL(url).pathname.split("/")[4];
    asked.push(id);
    return Promise.resolve(Response.json(files[id]));
  };
  const pipeline = { steps: ["Segmentation", "QualityPrediction"], models: [], yaml: "steps: []", scoresQuality: true };
  const app = jobsApp(fakeSource({ campaigns: { "batch-default/lund": live({ pipeline }) } }), { send });
  const detail = await detailed(app);
  assert.deepEqual(detail.volumes.map(({ id, state }) => [id, state]), [
    ["a", "done"],
    ["b", "active"],
    ["c", "pending"],
    ["d", "failed"],
  ]);
  assert.deepEqual(asked, ["b", "d", "a"]);
  assert.equal(detail.volumes[1].progress?.ageSeconds, 60);
  assert.equal(detail.volumes[0].sourceUrl, "https://archive.example.org/a");
  assert.equal(detail.volumes[1].sourceUrl, null);
  assert.deepEqual([detail.pagesDone, detail.pagesTotal, detail.pagesFailed, detail.errors], [7, 15, 3, 1]);
  assert.deepEqual(detail.pagesCoverage, { counted: 3, of: 3 });
  assert.deepEqual(detail.failures.map(({ index }) => index), [3]);
  assert.equal(detail.latest?.id, "b");
  assert.equal(detail.lastError?.volume, "d");
  assert.deepEqual(detail.pipelineSteps, ["Segmentation", "QualityPrediction"]);
  assert.equal(detail.pipelineYaml, "steps: []");
  assert.equal(detail.qualityPrediction, true);
  assert.equal(detail.quality, null);
  assert.deepEqual((await detailed(app, "?offset=3&limit=1")).volumes.map(({ id }) => id), ["d"]);
  assert.deepEqual((await detailed(app, "?offset=400")).volumes, []);
});

Deno.test("detail: the first 200 volumes unless the request says otherwise", async () => {
  const volumes = readVolumes(Array.from({ length: 250 }, (_, index) => `v${index}\n`).join(""));
  const app = jobsApp(fakeSource({ campaigns: { "batch-default/lund": live({ volumes, pods: [] }) } }));
  const { volumes: rows } = await detailed(app);
  assert.deepEqual([rows.length, rows[0].index, rows[199].index], [200, 0, 199]);
  assert.equal((await detailed(app, "?limit=201")).volumes.length, 201);
});

Deno.test("detail: a reaped campaign's rows come from its record, and its progress is still read", async () => {
  const campaign = {
    record: record("lund", "2025-11-10T00:00:00Z"),
    status: status("lund", {
      phase: "PartiallyFailed",
      volumesTotal: "2",
      volumesDone: "1",
      volumesFailed: "1",
      failedVolumes: '[{"id":"b","reason":"the manifest is gone"}]',
    }),
  };
  const objects: CampaignObjects = {
    kind: "reaped",
    campaign,
    volumes: readVolumes("a\nb\n"),
    pipeline: NO_PIPELINE,
    warmup: null,
  };
  const send: ResultsFetch = () => Promise.resolve(Response.json({ pages_total: 4, pages_done: 4 }));
  const detail = await detailed(jobsApp(fakeSource({ campaigns: { "batch-default/lund": objects } }), { send }));
  assert.equal(detail.jobGone, true);
  assert.deepEqual(detail.volumes.map(({ state, reason }) => [state, reason?.error]), [
    ["done", undefined],
    ["failed", "the manifest is gone"],
  ]);
  assert.equal(detail.pagesDone, 8);
  assert.equal(detail.warmup.phase, "missing");
});

Deno.test("detail: sums of a huge campaign settle over requests, and rows not shown are not read twice", async () => {
  const count = 250;
  const volumes = readVolumes(Array.from({ length: count }, (_, index) => `v${index}`).join("\n"));
  const done = job({ spec: { completions: count }, status: { completedIndexes: `0-${count - 1}` } });
  let now = NOW;
  let asked = 0;
  const send: ResultsFetch = () => {
    asked++;
    return Promise.resolve(Response.json({ pages_total: 2, pages_done: 2 }));
  };
  const campaigns = { "batch-default/lund": live({ job: done, volumes, pods: [] }) };
  const app = jobsApp(fakeSource({ campaigns }), { send, now: () => now });
  const covered = async () => (await detailed(app, "?limit=10")).pagesCoverage.counted;
  assert.deepEqual([await covered(), await covered(), await covered()], [100, 200, 250]);
  assert.equal(asked, 250);
  const whole = await detailed(app, "?limit=10");
  assert.equal(whole.pagesDone, 500);
  // The files' own hour ends a little before that of the tally, which began with the request and not with the answer.
  assert.equal(asked, 250);
  assert.equal((await detailed(app, "?limit=10", BO)).pagesCoverage.counted, 100);
  now += 3_600_000;
  assert.equal(await covered(), 100);
});

Deno.test("detail: another user's progress is not shown", async () => {
  const send: ResultsFetch = (_url, { headers }) =>
    Promise.resolve(
      headers.cookie === "results_session=anna"
        ? Response.json({ pages_total: 9, pages_done: 9, last_page: "hers alone" })
        : new Response(null, { status: 403 }),
    );
  const app = jobsApp(fakeSource({ campaigns: LUND }), { send });
  for (let round = 0; round < 2; round++) {
    assert.equal((await detailed(app)).pagesDone, 27);
    const other = await detailed(app, "", BO);
    assert.equal(other.pagesDone, 0);
    assert.ok(!JSON.stringify(other).includes("hers alone"));
    assert.deepEqual(other.volumes.map(({ forbidden }) => forbidden), [true, true, false, true]);
    assert.deepEqual(other.pagesCoverage, { counted: 3, of: 3 });
  }
});

Deno.test("detail: hostile content of cluster and bucket is an answer", async () => {
  const message = "\ud800\u2028\u0000".repeat(22_000);
  const hostile = readJob(
    jobObject({
      metadata: { creationTimestamp: "\udfff" },
      labels: { [names.campaign]: "\ud83d", [names.pipeline]: "constructor" },
      spec: { completions: 4 },
      status: { conditions: null, failedIndexes: "0,__proto__,-,3-1", active: "many" },
    }),
    CONVENTIONS.stackroom,
  );
  assert.ok(hostile);
  const pods = [pod("1", { containerStatuses: [terminated("wrapper", { exitCode: 13, message })] })];
  const objects = live({
    job: hostile,
    pods,
    volumes: readVolumes("__proto__\t\u0000\n\ud800\n..\nd\tjavascript:x\n"),
  });
  const send: ResultsFetch = () =>
    Promise.resolve(new Response('{"pages_total":3,"last_page":"\\ud800","quality":{"mean":NaN},"__proto__":{"x":1}}'));
  const source = fakeSource({ snapshot: { jobs: [hostile] }, campaigns: { "batch-default/lund": objects } });
  const app = jobsApp(source, { send });
  const detail = await detailed(app);
  assert.deepEqual(detail.volumes.map(({ id, state }) => [id, state]), [
    ["__proto__", "failed"],
    // A cluster sends no half of a character: its texts are UTF-8.
    ["\ufffd", "active"],
    ["..", "pending"],
    ["d", "pending"],
  ]);
  assert.equal(detail.volumes[1].reason?.error, message.slice(0, 300));
  assert.equal(detail.volumes[0].progress?.lastPage, "\ud800");
  assert.equal((await listed(app))[0].campaign, "\ud83d");
});
