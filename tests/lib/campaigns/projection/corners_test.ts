import assert from "node:assert/strict";
import { readCampaignRecord } from "@/lib/campaigns/projection/cluster_objects.ts";
import { composeDetail, layoutLive, layoutReaped } from "@/lib/campaigns/projection/detail.ts";
import { judgeAnswer, withAge } from "@/lib/campaigns/projection/progress.ts";
import { reapedCampaign } from "@/lib/campaigns/projection/reaped.ts";
import { readStatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import { type JobDetail, NO_PIPELINE, type ProgressAnswer } from "@/lib/campaigns/projection/types.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { condition, conventions, job, names, pod, terminated } from "./cluster_fixtures.ts";

const context = { resultsUrl: "https://r/", warmup: { phase: "missing" } } as const;
const page = { offset: 0, limit: 200 };
const NOW = Date.UTC(2025, 10, 20, 12);

interface Objects {
  readonly spec?: object;
  readonly status?: object;
  readonly volumes?: string;
  readonly pods?: Parameters<typeof pod>[];
  readonly answers?: ReadonlyMap<number, ProgressAnswer>;
}

function detail({ spec, status, volumes = "a\nb\nc\nd\n", pods = [], answers = new Map() }: Objects): JobDetail {
  const campaign = layoutLive(
    job({ spec, status }),
    readVolumes(volumes),
    pods.map((parts) => pod(...parts)),
    NO_PIPELINE,
    context,
  );
  return composeDetail(campaign, page, answers, NOW);
}

const complete = condition("Complete", "2025-11-20T10:00:00Z");
const failed = condition("Failed", "2025-11-20T11:00:00Z");

Deno.test("corners of a campaign: phase, counts and times", () => {
  const cases: [what: string, objects: Objects, expected: Partial<JobDetail>][] = [
    ["both endings", { status: { conditions: [failed, complete], completedIndexes: "0" } }, {
      phase: "Succeeded",
      finishedAt: "2025-11-20T11:00:00Z",
    }],
    ["both endings and a completion time", {
      status: { conditions: [failed, complete], completionTime: "2025-11-20T10:00:01Z" },
    }, { phase: "Succeeded", finishedAt: "2025-11-20T10:00:01Z" }],
    ["an ending that is not True", { status: { conditions: [{ ...complete, status: "Unknown" }] } }, {
      phase: "Running",
      finishedAt: null,
    }],
    ["a failure while suspended", { spec: { suspend: true }, status: { conditions: [failed] } }, {
      phase: "Failed",
      suspended: true,
      waiting: null,
    }],
    ["an index in both sets counts in both", { status: { completedIndexes: "0-1", failedIndexes: "1,3" } }, {
      counts: { total: 4, active: 0, done: 2, failed: 2 },
    }],
    ["counts beyond the volumes", { volumes: "a\n", status: { completedIndexes: "0-3", active: 2 } }, {
      counts: { total: 4, active: 2, done: 4, failed: 0 },
      pagesCoverage: { counted: 0, of: 1 },
    }],
    ["nothing started", { status: {} }, {
      latest: null,
      failures: [],
      pagesDone: 0,
      lastError: null,
      quality: null,
      pagesCoverage: { counted: 0, of: 0 },
    }],
    ["members of wrong types", {
      spec: { completions: "4", suspend: "true" },
      status: { active: "1", completedIndexes: 5, startTime: 7, conditions: null },
    }, {
      phase: "Running",
      suspended: false,
      startedAt: null,
      counts: { total: 0, active: 0, done: 0, failed: 0 },
    }],
  ];
  for (const [what, objects, expected] of cases) {
    assert.deepEqual(picked(detail(objects), expected), expected, what);
  }
});

Deno.test("corners of a campaign: which rows there are, and their states", () => {
  const cases: [what: string, objects: Objects, rows: string[]][] = [
    ["blank lines and CRLF", { volumes: "a\thttps://x/1\r\n\r\n \nb\r\n" }, [
      "a pending https://x/1",
      "b pending null",
    ]],
    ["fewer lines than completions", { volumes: "a\n", status: { failedIndexes: "0,3" } }, ["a failed null"]],
    ["more lines than completions", { spec: { completions: 1 }, volumes: "a\nb\n", pods: [["1"]] }, [
      "a pending null",
      "b pending null",
    ]],
    ["an index in both sets", { volumes: "a\n", status: { completedIndexes: "0", failedIndexes: "0" } }, [
      "a done null",
    ]],
    ["an index label with zeros", { volumes: "a\nb\n", pods: [["01"]] }, ["a pending null", "b active null"]],
    ["labels that are no index", { volumes: "a\n", pods: [["x"], ["-0"], [""], [null], ["0.0"]] }, ["a pending null"]],
    ["images and several tabs", { volumes: "a\timages:https://x/1.jpg\nb\thttps://x/\tmore\n" }, [
      "a pending null",
      "b pending null",
    ]],
  ];
  for (const [what, objects, rows] of cases) {
    const { volumes } = detail(objects);
    assert.deepEqual(volumes.map(({ id, state, sourceUrl }) => `${id} ${state} ${sourceUrl}`), rows, what);
  }
});

Deno.test("corners of a campaign: an id is shown as it is and encoded in every URL", () => {
  const [row] = detail({ volumes: "../ü'(*)!~_.-\n" }).volumes;
  assert.equal(row.id, "../ü'(*)!~_.-");
  const key = "..%2F%C3%BC%27%28%2A%29%21~_.-";
  assert.deepEqual([row.manifestUrl, row.iiifUrl, row.altoPrefix, row.logUrl], [
    `https://r/batch-default/lion-v2/${key}/manifest.json`,
    `https://r/batch-default/lion-v2/${key}/iiif.json`,
    `https://r/batch-default/lion-v2/${key}/alto/`,
    `https://r/batch-default/status/logs/lion-v2/${key}.txt`,
  ]);
});

Deno.test("corners of a campaign: which pod gives the reason of a volume", () => {
  const ended = (message: string | null, exitCode = 1) => ({
    phase: "Failed",
    containerStatuses: [terminated("wrapper", { exitCode, message })],
  });
  const at = (creationTimestamp: string) => ({ creationTimestamp });
  const plain = (error: string) => ({ stage: null, permanent: null, error });
  const cases: [what: string, status: object, pods: Parameters<typeof pod>[], reason: unknown][] = [
    ["the newest, whatever the order", { failedIndexes: "0" }, [
      ["0", ended("new"), at("2025-11-20T09:00:00Z")],
      ["0", ended("old"), at("2025-11-20T08:00:00Z")],
    ], plain("new")],
    ["the newest, even when it says nothing", { failedIndexes: "0" }, [
      ["0", ended("old"), at("2025-11-20T08:00:00Z")],
      ["0", {}, at("2025-11-20T09:00:00Z")],
    ], undefined],
    [
      "of equal times the first",
      { failedIndexes: "0" },
      [["0", ended("first")], ["0", ended("second")]],
      plain("first"),
    ],
    ["a volume between two attempts", {}, [["0", ended("try again")]], plain("try again")],
    ["a done volume has none", { completedIndexes: "0" }, [["0", ended("older attempt")]], undefined],
    ["an empty message is a message", { failedIndexes: "0" }, [["0", { reason: "Evicted", ...ended("") }]], plain("")],
    ["no message", { failedIndexes: "0" }, [["0", { reason: "Evicted", ...ended(null) }]], plain("Evicted")],
    ["a clean exit", { failedIndexes: "0" }, [["0", ended(null, 0)]], undefined],
    ["a report with a number that is none", { failedIndexes: "0" }, [
      ["0", ended('{"stage":"stream","permanent":false,"error":"no score","mean":NaN}')],
    ], { stage: "stream", permanent: false, error: "no score" }],
  ];
  for (const [what, status, pods, reason] of cases) {
    const [row] = detail({ status, pods, volumes: "a\n" }).volumes;
    assert.deepEqual(row.reason, reason, what);
    assert.equal("reason" in row, reason !== undefined, what);
  }
});

Deno.test("corners of progress: what a file says and what it does not", () => {
  const whole = { pages_total: 10, pages_done: 3 };
  const quality = { mean: 0.5, min: 0.1, scored: 2 };
  const cases: [what: string, file: string, expected: object | null][] = [
    ["a total with a fraction", '{"pages_total": 1000.0}', null],
    ["a total with an exponent", '{"pages_total": 1e2}', null],
    ["a total that is a boolean", '{"pages_total": true}', null],
    ["a total that is text", '{"pages_total": "5"}', null],
    ["a negative total", '{"pages_total": -1}', { total: -1, done: 0 }],
    ["a list", "[1]", null],
    ["nothing", "", null],
    ["done as text", '{"pages_total": 1, "pages_done": "1", "errors": 1.0}', { done: 0, errors: 0 }],
    ["published as 0.0", '{"pages_total": 1, "viewer_published": 0.0}', { viewerPublished: false }],
    ["published as text", '{"pages_total": 1, "viewer_published": "no"}', { viewerPublished: true }],
    ["published as an empty object", '{"pages_total": 1, "viewer_published": {}}', { viewerPublished: false }],
    ["an error without text", JSON.stringify({ ...whole, last_error: { page: "p", error: 5 } }), { lastError: null }],
    ["an error without page", JSON.stringify({ ...whole, last_error: { page: 5, error: "e" } }), {
      lastError: { page: null, error: "e" },
    }],
    ["more scores than pages", JSON.stringify({ ...whole, quality: { ...quality, scored: 11 } }), { quality: null }],
    ["no scores", JSON.stringify({ ...whole, quality: { ...quality, scored: 0 } }), { quality: null }],
    ["a mean that is none", '{"pages_total": 10, "quality": {"mean": NaN, "min": 0.1, "scored": 2}}', {
      total: 10,
      quality: null,
    }],
    ["a mean that is a boolean", JSON.stringify({ ...whole, quality: { ...quality, mean: true } }), { quality: null }],
    [
      "a page whose name has no end",
      JSON.stringify({ ...whole, quality: { ...quality, lowest: [{ page: "p".repeat(5000), quality: 0.1 }] } }),
      {
        quality: {
          ...quality,
          model: null,
          revision: null,
          lowest: [{ page: "p".repeat(300), quality: 0.1, canvas: null }],
        },
      },
    ],
  ];
  for (const [what, file, expected] of cases) {
    const { answered, progress } = judgeAnswer("progress", 200, new TextEncoder().encode(file));
    assert.equal(answered, true, what);
    if (expected === null || progress === null) assert.equal(progress, expected, what);
    else assert.deepEqual(picked(progress, expected), expected, what);
  }
});

Deno.test("corners of progress: the age of a time", () => {
  const read = judgeAnswer("progress", 200, new TextEncoder().encode('{"pages_total":1}')).progress;
  assert.ok(read);
  const cases: [string | null, number | null][] = [
    ["2025-11-20T11:59:00Z", 60],
    ["2025-11-20T11:59:00", 60],
    ["2025-11-20T12:59:00+01:00", 60],
    ["2025-11-20T12:00:09Z", 0],
    ["yesterday", null],
    [null, null],
  ];
  for (const [updatedAt, ageSeconds] of cases) {
    const shown = withAge({ ...read, updatedAt }, NOW);
    assert.deepEqual([shown.updatedAt, shown.ageSeconds], [updatedAt, ageSeconds], String(updatedAt));
  }
});

Deno.test("corners of page sums: a volume that was forbidden, is absent, or was not read", () => {
  const file = (text: string) => judgeAnswer("progress", 200, new TextEncoder().encode(text));
  const answers = new Map([
    [0, file('{"pages_total":5,"pages_done":5,"updated_at":"2025-11-20T10:00:00Z","last_error":{"error":"older"}}')],
    [1, judgeAnswer("progress", 403, null)],
    [2, judgeAnswer("progress", 404, null)],
    [3, judgeAnswer("progress", 503, null)],
  ]);
  const shown = detail({ status: { completedIndexes: "0-3" }, answers });
  assert.deepEqual(shown.pagesCoverage, { counted: 3, of: 4 });
  assert.deepEqual(shown.volumes.map(({ forbidden }) => forbidden), [false, true, false, false]);
  assert.deepEqual([shown.pagesDone, shown.pagesTotal], [5, 5]);
  assert.deepEqual(shown.lastError, { page: null, error: "older", volume: "a", logUrl: shown.volumes[0].logUrl });
});

Deno.test("corners of a reaped campaign: what its record says of volumes and counts", () => {
  const cases: [what: string, data: object, phase: string, rows: string[]][] = [
    [
      "a failure named in a running record",
      { phase: "Running", failedVolumes: '[{"id":"b","reason":"no page"}]' },
      "Unknown",
      [
        "a unknown undefined",
        "b failed no page",
      ],
    ],
    ["all failed", { phase: "Failed", volumesFailed: "2" }, "Failed", ["a failed undefined", "b failed undefined"]],
    ["more counted than named", { phase: "Succeeded", volumesFailed: "1" }, "Succeeded", [
      "a unknown undefined",
      "b unknown undefined",
    ]],
    [
      "a blank sentence",
      {
        phase: "PartiallyFailed",
        volumesFailed: "1",
        failedVolumes: '[{"id":"a","reason":""}]',
      },
      "PartiallyFailed",
      ["a failed undefined", "b done undefined"],
    ],
    [
      "a sentence that is a number, an id twice",
      {
        phase: "PartiallyFailed",
        volumesFailed: "1",
        failedVolumes: '[{"id":"a","reason":"x"},{"id":"a","reason":13},{"id":7}]',
      },
      "PartiallyFailed",
      ["a failed 13", "b done undefined"],
    ],
    [
      "failures of another Job",
      {
        phase: "PartiallyFailed",
        volumesFailed: "1",
        jobUid: "u1",
        failedVolumes: '[{"id":"a","reason":"x"}]',
        failedVolumesJobUid: "u0",
      },
      "PartiallyFailed",
      ["a unknown undefined", "b unknown undefined"],
    ],
  ];
  for (const [what, data, phase, rows] of cases) {
    const labels = { [names.pipeline]: "lion" };
    const record = readCampaignRecord({ metadata: { namespace: "ns", name: "campaign-x", labels } }, conventions);
    const status = readStatusRecord({ metadata: { namespace: "ns", name: "campaign-x-status" }, data }, conventions);
    const campaign = reapedCampaign(record, status);
    assert.ok(campaign, what);
    const layout = layoutReaped(campaign, readVolumes("a\nb\n"), NO_PIPELINE, context);
    const shown = composeDetail(layout, page, new Map(), NOW);
    assert.equal(shown.phase, phase, what);
    assert.deepEqual(shown.volumes.map(({ id, state, reason }) => `${id} ${state} ${reason?.error}`), rows, what);
    assert.equal(shown.resultsBase, "https://r/ns/lion");
  }
});

function picked(whole: object, like: object): object {
  return Object.fromEntries(Object.keys(like).map((key) => [key, Reflect.get(whole, key)]));
}
