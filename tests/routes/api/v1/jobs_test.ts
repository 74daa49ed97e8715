import assert from "node:assert/strict";
import { progressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import { jobOperations } from "@/routes/api/v1/jobs.ts";
import { siteOnlyOperations } from "@/routes/api/v1/jobs.ts";
import {
  condition,
  job,
  names,
  pod,
  terminated,
  warmupJob,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { ANNA, fakeSource, OUTAGE, RESULTS_URL, webApp } from "./web_fixture.ts";

import { jobsApp, listed, LUND, NOTHING, NOW, record, status } from "./jobs_fixture.ts";

Deno.test("jobs: a live campaign has every member of a summary", async () => {
  const snapshot = {
    jobs: [job({ status: { completedIndexes: "0-1", failedIndexes: "3", active: 1 } })],
    warmups: [warmupJob({ status: { active: 1 } })],
    pipelines: [{ namespace: "batch-default", pipeline: "lion-v2", scoresQuality: true }],
  };
  const [row] = await listed(jobsApp(fakeSource({ snapshot })));
  assert.deepEqual(row, {
    namespace: "batch-default",
    name: "lund",
    campaign: "lund-file",
    pipeline: "lion-v2",
    phase: "Running",
    counts: { total: 4, active: 1, done: 2, failed: 1 },
    suspended: false,
    createdAt: "2025-11-20T08:00:00Z",
    startedAt: "2025-11-20T08:01:00Z",
    finishedAt: null,
    resultsBase: `${RESULTS_URL}/batch-default/lion-v2`,
    warmup: { phase: "running" },
    jobGone: false,
    qualityPrediction: true,
    waiting: null,
    ending: null,
  });
});

Deno.test("jobs: a suspended campaign says what it waits for", async () => {
  const suspended = job({
    spec: { suspend: true },
    status: { conditions: [{ ...condition("Suspended", "2025-11-20T08:05:00Z"), reason: "JobSuspended" }] },
  });
  const [row] = await listed(jobsApp(fakeSource({ snapshot: { jobs: [suspended] } })));
  assert.equal(row.phase, "Queued");
  assert.deepEqual(row.waiting, {
    code: "suspended",
    reason: "JobSuspended",
    message: null,
    since: "2025-11-20T08:05:00Z",
  });
});

Deno.test("jobs: reaped rows are the ones that ended last, among the live ones by creation, and all are counted", async () => {
  const ended = (name: string, createdAt: string, finishedAt: string) => ({
    record: record(name, createdAt),
    status: status(name, { phase: "Succeeded", volumesTotal: "3", volumesDone: "3", volumesFailed: "0", finishedAt }),
  });
  const gone = [
    ended("early", "2025-11-10T00:00:00Z", "2025-11-19T00:00:00Z"),
    ended("late", "2025-11-12T00:00:00Z", "2025-11-13T00:00:00Z"),
    ended("lund", "2025-11-20T08:00:00Z", "2025-11-21T00:00:00Z"),
  ];
  const source = fakeSource({
    snapshot: {
      jobs: [job({ metadata: { creationTimestamp: "2025-11-11T00:00:00Z" } })],
      records: [...gone.map((campaign) => campaign.record), record("unrecorded", "2025-11-01T00:00:00Z")],
      statuses: [...gone.map((campaign) => campaign.status)],
    },
  });
  const app = jobsApp(source);
  const rows = await listed(app);
  assert.deepEqual(rows.map(({ name, jobGone }) => [name, jobGone]), [["late", true], ["lund", false], [
    "early",
    true,
  ]]);
  assert.deepEqual((await listed(app, "?reaped=1")).map(({ name }) => name), ["lund", "early"]);
  for (const query of ["", "?reaped=0", "?reaped=1"]) {
    const answer = await app.request(`/api/v1/jobs${query}`, { headers: ANNA });
    assert.equal(answer.headers.get("x-reaped-total"), "2");
    await answer.body?.cancel();
  }
});

Deno.test("jobs: twenty reaped campaigns unless the request says otherwise", async () => {
  const names = Array.from({ length: 25 }, (_, index) => `gone-${index}`);
  const source = fakeSource({
    snapshot: {
      records: names.map((name) => record(name, "2025-11-10T00:00:00Z")),
      statuses: names.map((name) => status(name, { phase: "Succeeded" })),
    },
  });
  const app = jobsApp(source);
  assert.equal((await listed(app)).length, 20);
  assert.equal((await listed(app, "?reaped=21")).length, 21);
});

Deno.test("jobs: campaigns of one failed warm-up share one read of its pods, and other warm-ups need none", async () => {
  const failed = warmupJob({
    metadata: { name: "warmup-lion" },
    status: { conditions: [condition("Failed", "2025-11-20T08:10:00Z")] },
  });
  const pods = {
    "batch-default/warmup-lion": [
      pod(null, { containerStatuses: [terminated("warmup", { exitCode: 1, message: '{"error":"No space"}' })] }),
    ],
  };
  const source = fakeSource({
    snapshot: {
      jobs: [job(), job({ metadata: { name: "visby" } })],
      warmups: [failed, warmupJob({ labels: { [names.pipeline]: "unused" }, status: failed })],
    },
    pods,
  });
  const rows = await listed(jobsApp(source));
  const warmup = { phase: "failed", reason: { stage: null, permanent: null, error: "No space" } };
  assert.deepEqual(rows.map((row) => row.warmup), [warmup, warmup]);
  assert.deepEqual(source.reads, ["list", "pods batch-default/warmup-lion"]);
});

Deno.test("jobs: session before validation, validation before anything is read", async () => {
  const source = fakeSource({ campaigns: LUND });
  const app = jobsApp(source);
  for (const query of ["reaped=-1", "reaped=10001", "reaped=", "reaped=x", "reaped=1.0", "reaped=1e2", "reaped=0x1"]) {
    assert.equal((await app.request(`/api/v1/jobs?${query}`)).status, 401);
    const refused = await app.request(`/api/v1/jobs?${query}`, { headers: ANNA });
    assert.equal(refused.status, 422, query);
    const { detail } = await refused.json();
    assert.deepEqual(detail[0].loc, ["query", "reaped"]);
    assert.equal(refused.headers.get("cache-control"), "private, no-store");
  }
  for (const query of ["limit=0", "limit=1001", "offset=-1", "limit=", "offset=a"]) {
    for (const path of ["batch-default/lund", "nowhere/lund", "batch-default/%00"]) {
      const refused = await app.request(`/api/v1/jobs/${path}?${query}`, { headers: ANNA });
      assert.equal(refused.status, 422, `${path}?${query}`);
    }
  }
  assert.deepEqual(source.reads, []);
  for (const query of ["reaped=+5", "reaped=0", "reaped=10000", "reaped=-1&reaped=3", "other=x"]) {
    assert.equal((await app.request(`/api/v1/jobs?${query}`, { headers: ANNA })).status, 200, query);
  }
});

Deno.test("jobs: names that cannot be a campaign's are 404 without a cluster read", async () => {
  const source = fakeSource({ campaigns: LUND });
  const app = jobsApp(source);
  const hostile = [
    "kube-system/lund",
    "batch-default/Lund",
    "batch-default/-a",
    "batch-default/a-",
    "batch-default/a.b",
    `batch-default/${"a".repeat(64)}`,
    "batch-default/..%2Fx",
    "batch-default/a%2Fb",
    "batch-default/a%0A",
    "batch-default/%00",
    "batch-default/%ff",
    "batch-default/%zz",
    "%zz/lund",
    "batch-default/__proto__",
    "__proto__/lund",
    "batch-default/l%C3%B6nd",
  ];
  for (const path of hostile) {
    const answer = await app.request(`/api/v1/jobs/${path}`, { headers: ANNA });
    assert.equal(answer.status, 404, path);
    assert.deepEqual(await answer.json(), { detail: "job not found" }, path);
    assert.equal((await app.request(`/api/v1/jobs/${path}`)).status, 401, path);
  }
  assert.deepEqual(source.reads, []);
  const unknown = await app.request("/api/v1/jobs/batch-default/unknown", { headers: ANNA });
  assert.equal(unknown.status, 404);
  assert.deepEqual(source.reads, ["campaign batch-default/unknown"]);
});

Deno.test("jobs: a session that cannot be checked, and a cluster that is away, are 502 with the usual headers", async () => {
  const app = jobsApp(fakeSource({ error: new ClusterUnavailable("10.0.0.1 said no to token") }));
  const cases: [HeadersInit, string][] = [
    [OUTAGE, "the results service did not answer"],
    [ANNA, "the cluster did not answer"],
  ];
  for (const path of ["/api/v1/jobs", "/api/v1/jobs/batch-default/lund"]) {
    for (const [headers, detail] of cases) {
      const answer = await app.request(path, { headers });
      assert.equal(answer.status, 502);
      assert.equal(answer.headers.get("cache-control"), "private, no-store");
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
      assert.deepEqual(await answer.json(), { detail });
    }
  }
});

Deno.test("jobs: HEAD has the headers of GET and no body, other methods are 405", async () => {
  const app = jobsApp(fakeSource({ snapshot: { jobs: [job()] }, campaigns: LUND }));
  for (const path of ["/api/v1/jobs", "/api/v1/jobs/batch-default/lund"]) {
    const get = await app.request(path, { headers: ANNA });
    const head = await app.request(path, { method: "HEAD", headers: ANNA });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    const withoutId = (headers: Headers) => [...headers].filter(([name]) => name !== "x-request-id");
    assert.deepEqual(withoutId(head.headers), withoutId(get.headers));
    assert.equal(Number(head.headers.get("content-length")), (await get.bytes()).length);
    assert.equal((await app.request(path, { method: "HEAD" })).status, 401);
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      assert.equal((await app.request(path, { method, headers: ANNA })).status, 405);
    }
  }
});

Deno.test("jobs: a site without a cluster returns 503, with and without a login", async () => {
  const source = fakeSource({});
  const app = webApp(jobOperations(siteOnlyOperations(), {
    source,
    namespaces: ["batch-default"],
    progress: progressReader({ send: NOTHING, base: "", now: () => NOW, sessionMs: 3_600_000 }),
    tallies: new Tallies(() => NOW, 3_600_000),
    lists: new CampaignLists(source),
    resultsUrl: () => "",
    now: () => NOW,
  }));
  for (const path of ["/api/v1/jobs", "/api/v1/jobs?reaped=x", "/api/v1/jobs/batch-default/lund"]) {
    for (const headers of [{}, ANNA]) {
      const answer = await app.request(path, { headers });
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get("cache-control"), "private, no-store");
    }
  }
  assert.deepEqual(source.reads, []);
});

Deno.test("jobs: an answer older than half a minute says how old it is, others say nothing", async () => {
  for (const [age, shown] of [[0, null], [30_000, null], [30_001, "30"], [299_999, "299"]] as const) {
    const app = jobsApp(fakeSource({ age, campaigns: LUND }));
    for (const path of ["/api/v1/jobs", "/api/v1/jobs/batch-default/lund"]) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await app.request(path, { method, headers: ANNA });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get("x-data-age"), shown);
      }
    }
  }
});
