import assert from "node:assert/strict";
import { readCampaignRecord } from "@/lib/campaigns/projection/cluster_objects.ts";
import {
  chooseReaped,
  readFailures,
  readStatusRecord,
  reapedCampaign,
  reapedStates,
  reapedSummary,
} from "@/lib/campaigns/projection/status_record.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { conventions, names } from "./cluster_fixtures.ts";

const data = {
  phase: "PartiallyFailed",
  volumesTotal: "10",
  volumesDone: "8",
  volumesFailed: "2",
  startedAt: "2025-11-20T08:00:00Z",
  finishedAt: "2025-11-20T09:00:00Z",
  resultsBase: "https://old.example/results/ns/p",
  jobUid: "uid-1",
  failedVolumes: '[{"id":"a","reason":"no page"}]',
  failedVolumesJobUid: "uid-1",
};

function read(parts: object = {}, metadata: object = {}) {
  return readStatusRecord(
    { metadata: { namespace: "ns", name: "campaign-lund-status", ...metadata }, data: { ...data, ...parts } },
    conventions,
  );
}

Deno.test("status record: all of it is read", () => {
  assert.deepEqual(
    read({}, { labels: { [names.campaign]: "lund-file", [names.pipeline]: "lion" }, resourceVersion: "17" }),
    {
      namespace: "ns",
      job: "lund",
      campaign: "lund-file",
      pipeline: "lion",
      phase: "PartiallyFailed",
      volumesTotal: 10,
      volumesDone: 8,
      volumesFailed: 2,
      startedAt: "2025-11-20T08:00:00Z",
      finishedAt: "2025-11-20T09:00:00Z",
      resultsBase: "https://old.example/results/ns/p",
      jobUid: "uid-1",
      version: "17",
      failures: new Map([["a", "no page"]]),
    },
  );
});

Deno.test("status record: its name is the campaign's with prefix and suffix", () => {
  for (const name of ["campaign-lund", "lund-status", "campaign-status", "x", null, 5]) {
    assert.equal(read({}, { name }), null, `${name}`);
  }
  assert.equal(read({}, { name: "campaign-a-status-status" })?.job, "a-status");
});

Deno.test("status record: broken members cost only themselves", () => {
  assert.equal(read({ phase: "Weird" })?.phase, null);
  assert.equal(read({ phase: "Unknown" })?.phase, null);
  assert.equal(read({ phase: "constructor" })?.phase, null);
  for (const text of ["", "x", "1.5", "1e3", undefined, 7, "9".repeat(40)]) {
    assert.equal(read({ volumesFailed: text })?.volumesFailed, 0, `${text}`);
  }
  assert.equal(read({ volumesFailed: " 3 " })?.volumesFailed, 3);
  assert.equal(read({ startedAt: "" })?.startedAt, null);
  assert.equal(read({ finishedAt: undefined })?.finishedAt, null);
  for (const garbage of ["soon", "2025-02-30T00:00:00Z", "1763629200", " "]) {
    assert.equal(read({ finishedAt: garbage })?.finishedAt, null, garbage);
  }
});

Deno.test("status record: failures of another Job are ignored, failures of no named Job are not", () => {
  assert.equal(read({ failedVolumesJobUid: "uid-2" })?.failures.size, 0);
  assert.equal(read({ failedVolumesJobUid: "" })?.failures.size, 1);
  assert.equal(read({ failedVolumesJobUid: undefined, jobUid: undefined })?.failures.size, 1);
  assert.equal(read({ failedVolumesJobUid: "uid-1", jobUid: "" })?.failures.size, 0);
});

Deno.test("failed volumes: entries without a text id are skipped, numbers become text, the last of an id wins", () => {
  const text = JSON.stringify([
    { id: "a", reason: "first" },
    { id: "a", reason: "last" },
    { id: 5, reason: "x" },
    { reason: "x" },
    "b",
    null,
    ["id"],
    { id: "c", reason: 13 },
    { id: "d", reason: 1.5 },
    { id: "e" },
    { id: "f", reason: "" },
    { id: "__proto__", reason: "odd name" },
  ]);
  assert.deepEqual([...readFailures(text)], [
    ["a", "last"],
    ["c", "13"],
    ["d", "1.5"],
    ["e", ""],
    ["f", ""],
    ["__proto__", "odd name"],
  ]);
});

Deno.test("failed volumes: what is no JSON list is no failure", () => {
  for (const text of ["", "[", "{}", "null", '"x"', null]) {
    assert.equal(readFailures(text).size, 0, `${text}`);
  }
});

function record(job: string, creationTimestamp = "2025-11-01T00:00:00Z", namespace = "ns") {
  const labels = { [names.pipeline]: "lion", [names.campaign]: `${job}-file` };
  const metadata = { namespace, name: `campaign-${job}`, creationTimestamp, labels };
  const read = readCampaignRecord({ metadata }, conventions);
  assert.ok(read);
  return read;
}

function status(job: string, data: object = {}, namespace = "ns") {
  const metadata = { namespace, name: `campaign-${job}-status` };
  const read = readStatusRecord({ metadata, data: { phase: "Succeeded", ...data } }, conventions);
  assert.ok(read);
  return read;
}

const nobody = () => false;

function chosen(
  limit: number,
  ...campaigns: [job: string, createdAt: string, finishedAt: string][]
) {
  const window = chooseReaped(
    campaigns.map(([job, createdAt]) => record(job, createdAt)),
    campaigns.map(([job, , finishedAt]) => status(job, { finishedAt })),
    nobody,
    limit,
  );
  return {
    names: window.chosen.map(({ record }) => record.job),
    total: window.total,
  };
}

Deno.test("reaped: a campaign needs both ConfigMaps, a known phase and no live Job", () => {
  const records = [record("a"), record("weird"), record("alone"), record("live"), record("a", undefined, "other")];
  const statuses = [status("a"), status("weird", { phase: "Weird" }), status("live"), status("orphan")];
  const window = chooseReaped(records, statuses, (namespace, job) => namespace === "ns" && job === "live", 20);
  assert.deepEqual(window.chosen.map(({ record }) => `${record.namespace}/${record.job}`), ["ns/a"]);
  assert.equal(window.total, 1);
  assert.equal(reapedCampaign(record("a"), null), null);
  assert.equal(reapedCampaign(null, status("a")), null);
  assert.equal(reapedCampaign(record("a"), status("a", { phase: "" })), null);
});

Deno.test("reaped: the ones that ended last are chosen by instant, all are counted", () => {
  const campaigns: [string, string, string][] = [
    ["east", "2025-11-01T00:00:00Z", "2025-11-10T12:00:00+05:00"],
    ["west", "2025-11-01T00:00:00Z", "2025-11-10T10:00:00Z"],
    ["unfinished", "2025-11-11T00:00:00Z", ""],
    ["garbage", "2025-11-30T00:00:00Z", "soon"],
    ["tie", "2025-11-02T00:00:00Z", "2025-11-10T10:00:00Z"],
    ["undated", "", "soon"],
  ];
  assert.deepEqual(chosen(20, ...campaigns).names, ["garbage", "unfinished", "tie", "west", "east", "undated"]);
  assert.deepEqual(chosen(2, ...campaigns), { names: ["garbage", "unfinished"], total: 6 });
  assert.deepEqual(chosen(0, ...campaigns), { names: [], total: 6 });
});

Deno.test("reaped: an ending that is no time counts as none, in the order and in the row", () => {
  const order = chosen(
    3,
    ["garbled", "2025-11-02T00:00:00Z", "soon"],
    ["late", "2025-11-01T00:00:00Z", "2025-11-03T00:00:00Z"],
    ["early", "2025-10-01T00:00:00Z", "2025-11-01T00:00:00Z"],
  );
  assert.deepEqual(order.names, ["late", "garbled", "early"]);
  const context = { resultsUrl: "https://r", warmup: { phase: "missing" }, qualityPrediction: false } as const;
  const row = reapedSummary({ record: record("a", ""), status: status("a", { finishedAt: "soon" }) }, context);
  assert.deepEqual([row.createdAt, row.finishedAt], [null, null]);
});

Deno.test("reaped summary: counts and times are the record's, links follow today's results URL", () => {
  const data = {
    phase: "Failed",
    volumesTotal: "9",
    volumesDone: "0",
    volumesFailed: "9",
    startedAt: "s",
    resultsBase: "https://old/results/x",
  };
  const context = {
    resultsUrl: "https://new/results/",
    warmup: { phase: "missing" },
    qualityPrediction: true,
  } as const;
  assert.deepEqual(
    reapedSummary({ record: record("a"), status: status("a", data) }, context),
    {
      namespace: "ns",
      name: "a",
      campaign: "a-file",
      pipeline: "lion",
      phase: "Failed",
      counts: { total: 9, active: 0, done: 0, failed: 9 },
      suspended: false,
      createdAt: "2025-11-01T00:00:00Z",
      startedAt: "s",
      finishedAt: null,
      resultsBase: "https://new/results/ns/lion",
      warmup: { phase: "missing" },
      jobGone: true,
      qualityPrediction: true,
      waiting: null,
      ending: null,
    },
  );
  for (const phase of ["Running", "Queued", "Paused"]) {
    assert.equal(reapedSummary({ record: record("a"), status: status("a", { phase }) }, context).phase, "Unknown");
  }
});

Deno.test("reaped rows: named volumes are failed, the others took the campaign's ending", () => {
  const volumes = readVolumes("a\nb\nc\n");
  const one = JSON.stringify([{ id: "b", reason: "no page" }]);
  const partly = (data: object) => ({ phase: "PartiallyFailed", failedVolumes: one, ...data });
  const [unknown, named] = [["unknown", "unknown", "unknown"], ["unknown", "failed", "unknown"]];
  const cases: [object, string[]][] = [
    [{ phase: "Succeeded" }, ["done", "done", "done"]],
    [partly({ volumesFailed: "1" }), ["done", "failed", "done"]],
    [partly({ volumesFailed: "2" }), named],
    [{ phase: "Succeeded", volumesFailed: "2", failedVolumes: one }, named],
    [{ phase: "Failed", volumesFailed: "3" }, ["failed", "failed", "failed"]],
    [partly({ volumesTotal: "3", volumesDone: "1", volumesFailed: "1" }), named],
    [partly({ volumesTotal: "3", volumesDone: "2", volumesFailed: "1" }), ["done", "failed", "done"]],
    [{ phase: "Succeeded", volumesTotal: "3", volumesDone: "1" }, unknown],
    [{ phase: "Failed", volumesTotal: "3", failedVolumes: one }, named],
    [{ phase: "Running", failedVolumes: one }, named],
    [partly({ volumesFailed: "1", failedVolumes: '[{"id":"gone","reason":"x"}]' }), unknown],
    [partly({ volumesFailed: "1", failedVolumes: "not JSON" }), unknown],
  ];
  for (const [data, states] of cases) {
    assert.deepEqual(reapedStates(volumes, status("a", data)).states, states, JSON.stringify(data));
  }
});

Deno.test("reaped rows: a volume listed twice is one named failure", () => {
  const failedVolumes = JSON.stringify([{ id: "a", reason: "x" }]);
  const rows = reapedStates(
    readVolumes("a\na\nb"),
    status("j", { phase: "PartiallyFailed", volumesFailed: "2", failedVolumes }),
  );
  assert.deepEqual(rows.states, ["failed", "failed", "unknown"]);
});

Deno.test("reaped rows: the reason is the record's sentence, unless it is blank", () => {
  const failedVolumes = JSON.stringify([{ id: "a", reason: "no page" }, {
    id: "b",
    reason: "",
  }, { id: "c", reason: " " }]);
  const rows = reapedStates(readVolumes("a\nb\nc\nd"), status("j", { phase: "Failed", failedVolumes }));
  assert.deepEqual(rows.reason(0), { stage: null, permanent: null, error: "no page" });
  for (const index of [1, 2, 3]) assert.equal(rows.reason(index), null);
});
