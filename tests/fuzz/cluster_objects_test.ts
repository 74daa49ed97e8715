import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { readCampaignRecord, readIndexRanges, readJob, readPod } from "@/lib/campaigns/projection/cluster_objects.ts";
import { composeDetail, layoutLive, layoutReaped, wantedProgress } from "@/lib/campaigns/projection/detail.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { judgeAnswer } from "@/lib/campaigns/projection/progress.ts";
import { readFailures, readStatusRecord, reapedCampaign } from "@/lib/campaigns/projection/status_record.ts";
import { openableSource } from "@/lib/campaigns/projection/urls.ts";
import type { ProgressAnswer } from "@/lib/campaigns/projection/types.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { watchOnce } from "@/lib/kubernetes/watch.ts";
import { lineSplitter, LineTooLong } from "@/lib/kubernetes/connection.ts";
import {
  condition,
  conventions,
  jobObject,
  names,
  podObject,
  terminated,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { assertNothingInherited, cuts, fuzz, inPieces, near, nearBytes, nearJson } from "./hostile.ts";

const NOW = Date.UTC(2025, 10, 20, 12);
const JOBS = [
  jobObject({
    spec: { completions: 3, suspend: false },
    status: {
      active: 1,
      startTime: "2025-11-20T08:01:00Z",
      completedIndexes: "0",
      failedIndexes: "2",
      conditions: [condition("Failed", "2025-11-20T08:02:00Z")],
    },
  }),
  jobObject({ labels: { app: conventions.warmupApp }, status: { conditions: null } }),
];
const PODS = [
  podObject("1", {
    phase: "Failed",
    containerStatuses: [terminated("wrapper", { exitCode: 1, message: '{"error":"x"}' })],
  }),
  podObject("0", { reason: "Evicted", conditions: [condition("PodScheduled", "2025-11-20T08:02:00Z", "False")] }),
];
const STATUS = {
  metadata: {
    namespace: "batch-default",
    name: "campaign-lund-status",
    resourceVersion: "7",
    labels: { [names.campaign]: "lund-file", [names.pipeline]: "lion-v2" },
  },
  data: {
    phase: "PartiallyFailed",
    volumesTotal: "3",
    volumesDone: "1",
    volumesFailed: "1",
    startedAt: "2025-11-20T08:01:00Z",
    finishedAt: "2025-11-20T09:01:00Z",
    resultsBase: "https://r/batch-default/lion-v2",
    jobUid: "uid-1",
    failedVolumes: '[{"id":"v1","reason":"a sentence"},{"id":"v2","reason":NaN}]',
    failedVolumesJobUid: "uid-1",
  },
};
const RECORD = {
  metadata: { namespace: "batch-default", name: "campaign-lund", creationTimestamp: "2025-11-20T08:00:00Z" },
};
const PIPELINE = {
  metadata: { namespace: "batch-default", name: "pipeline-lion-v2" },
  data: {
    "pipeline.yaml":
      "steps:\n- step: Segmentation\n  settings: &a\n    model: yolo\n    model_settings: {model: x/y}\n" +
      "- step: QualityPrediction\n  settings: *a\n",
  },
};
const VOLUMES = ["v1\thttps://x/1\nv2\timages:u1 u2\r\n\r\nv3\n", "a\n\n \t \nb\tc\td\n", "__proto__\n../..\tx\n"];
const PROGRESS = [
  '{"pages_total":9,"pages_done":4,"pages_failed":1,"last_page":"p","updated_at":"2025-11-20T11:59:50Z",' +
  '"last_error":{"page":"p","error":"e"},"quality":{"mean":0.5,"min":0.1,"scored":3,"lowest":[{"page":"p","quality":0.1}]}}',
  '{"pages":2,"results":{"a":{"status":"ok"},"b":{"status":"failed"}},"quality":{"mean":NaN,"min":-Infinity,"scored":1}}',
];

const page = { offset: 0, limit: 200 };
const context = { resultsUrl: "https://r", warmup: { phase: "succeeded" } } as const;

fuzz("Jobs, pods and ConfigMaps", {
  inputs: fc.record({
    job: nearJson(JOBS),
    pods: fc.array(nearJson(PODS), { maxLength: 3 }),
    status: nearJson([STATUS]),
    record: nearJson([RECORD]),
    pipeline: nearJson([PIPELINE]),
    volumes: near(VOLUMES, ["\t", "\n"]),
    progress: nearBytes(PROGRESS, ["NaN", "1e999", '"pages_total":']),
  }),
  check({ job, pods, status, record, pipeline, volumes, progress }) {
    const list = readVolumes(volumes);
    const read = readPipeline(pipeline);
    const answers = new Map<number, ProgressAnswer>();
    for (const index of [0, 1, 2]) {
      answers.set(index, judgeAnswer(index === 1 ? "manifest" : "progress", 200, progress));
    }
    const batchJob = readJob(job, conventions);
    const layouts = [
      batchJob && layoutLive(batchJob, list, pods.map(readPod).filter((pod) => pod !== null), read, context),
    ];
    const reaped = reapedCampaign(readCampaignRecord(record, conventions), readStatusRecord(status, conventions));
    if (reaped) layouts.push(layoutReaped(reaped, list, read, context));
    for (const layout of layouts) {
      if (!layout) continue;
      wantedProgress(layout, page);
      const detail = composeDetail(layout, page, answers, NOW);
      const text = JSON.stringify(detail);
      JSON.parse(text);
      assert.equal(detail.volumes.length, list.count);
      for (const { sourceUrl, manifestUrl, state } of detail.volumes) {
        assert.ok(sourceUrl === null || /^https?:\/\//i.test(sourceUrl), String(sourceUrl));
        assert.ok(manifestUrl.startsWith("https://r/"), manifestUrl);
        assert.ok(["pending", "active", "done", "failed", "unknown"].includes(state), state);
      }
      assert.ok(Number.isFinite(detail.pagesDone) && Number.isFinite(detail.pagesTotal), text);
    }
    assertNothingInherited();
  },
});

fuzz("volumes.txt", {
  inputs: near(VOLUMES, ["\t", "\n", "\r\n", "images:", "https://"]),
  check(text) {
    const list = readVolumes(text);
    const lines = text.toWellFormed().split("\n").map((line) => line.replace(/\r$/, "")).filter((line) =>
      line.trim() !== ""
    );
    assert.equal(list.count, lines.length);
    for (const [index, line] of lines.entries()) {
      const [id, ...rest] = line.split("\t");
      assert.deepEqual(list.line(index), { id, source: rest.length > 0 ? rest.join("\t") : null });
      assert.equal(list.id(index), id);
      const opened = openableSource(list.line(index).source);
      if (opened !== null) assert.match(new URL(opened).protocol, /^https?:$/);
    }
  },
  growth: {
    seeds: VOLUMES,
    words: ["a\n", "§\n", "\n", "a\t\n"],
    read(text) {
      const list = readVolumes(text);
      return Array.from(
        { length: list.count },
        (_, index) => [list.id(index), openableSource(list.line(index).source)],
      );
    },
  },
});

const RANGES = ["0-2,5", "0,1,2, 7 - 9", "5-1,x,,99999999999999-999999999999999"];

fuzz("index ranges", {
  inputs: near(RANGES, ["-", ",", "0-999999999999999"]),
  check(text) {
    const ranges = readIndexRanges(text);
    assert.ok(Number.isFinite(ranges.size) && ranges.size >= 0);
    const named = text.split(",").flatMap((range) => /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/.exec(range) ?? []);
    for (const number of named.filter((one) => /^\d+$/.test(one ?? "")).map(Number)) {
      const isIn = text.split(",").some((range) => {
        const [, first, last = first] = /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/.exec(range) ?? [];
        return first !== undefined && Number(first) <= number && number <= Number(last);
      });
      assert.equal(ranges.has(number), isIn, `${number} in ${text}`);
    }
  },
  growth: { seeds: RANGES, words: ["§,", "1-2,", "9-1,"], read: (text) => readIndexRanges(text).has(5) },
});

const YAML = [PIPELINE.data["pipeline.yaml"], "steps: [{step: a}, {<<: *x}]\n", "a: &a [*a]\n", "!!js/function x\n"];

fuzz("pipelines", {
  inputs: near(YAML, ["&a", "*a", "<<: ", "- ", "  ", "!!binary", "2001-99-99", "? ", "| \n", "%YAML 1.1\n---\n"]),
  check(text) {
    const { steps, models } = readPipeline({ ...PIPELINE, data: { "pipeline.yaml": text } });
    assert.ok(steps.every((step) => typeof step === "string") && models.length <= steps.length);
    assertNothingInherited();
  },
  growth: {
    seeds: YAML,
    words: ["[", "{", "- ", "? ", "a: ", "§: 1\n", "§: 1, ", "&§ ", "*a, ", "'", "#", "\n\n", " "],
    read: (text) => readPipeline({ ...PIPELINE, data: { "pipeline.yaml": text } }),
  },
});

fuzz("progress files and failures", {
  inputs: nearBytes([...PROGRESS, STATUS.data.failedVolumes], ["NaN", "-Infinity", "1e999", "\\u0000", "[["]),
  check(bytes) {
    for (const file of ["progress", "manifest"] as const) {
      const { progress } = judgeAnswer(file, 200, bytes);
      if (progress === null) continue;
      assert.ok([progress.done, progress.total, progress.failed, progress.errors].every(Number.isFinite));
      assert.ok((progress.lastPage ?? "").length <= 301 && (progress.quality?.lowest.length ?? 0) <= 5);
    }
    readFailures(Buffer.from(bytes).toString("utf8"));
  },
  growth: {
    seeds: PROGRESS,
    words: ["NaN,", '"§":1,', '"\\"', "[", "Infinity"],
    read: (text) => [judgeAnswer("progress", 200, Buffer.from(text)), readFailures(text)],
  },
});

const EVENTS = [
  '{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"5"}}}\n' +
  '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n',
  '{"type":"ERROR","object":{"code":410}}\n\n{"type":"DELETED","object":null}\n',
];

fuzz("watches", {
  inputs: fc.tuple(
    nearBytes(EVENTS, ["\n", "ERROR", '"code":']),
    cuts,
  ),
  async check([bytes, cuts]) {
    const connection = {
      stream(_request: unknown, _limits: unknown, onLine: (line: Uint8Array) => void) {
        const take = lineSplitter(1000, onLine);
        for (const piece of inPieces(bytes, cuts)) take(piece);
        return Promise.resolve(200);
      },
    };
    const request = {
      version: "1",
      seconds: 1,
      idleMs: 1,
      signal: new AbortController().signal,
    };
    const types: string[] = [];
    const end = await watchOnce(
      connection as never,
      { path: "/api/v1/pods" },
      request,
      (type) => void types.push(type),
    ).catch((error) => {
      assert.ok(error instanceof LineTooLong, String(error));
      return "expired";
    });
    assert.ok(["ended", "forbidden", "expired", "failed"].includes(end), end);
    assert.ok(types.every((type) => ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"].includes(type)));
  },
});
