import assert from "node:assert/strict";
import fc from "fast-check";
import { readFailures, readStatusRecord } from "@/lib/campaigns/projection/status_record.ts";
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
    {
      metadata: { namespace: "ns", name: "campaign-lund-status", ...metadata },
      data: { ...data, ...parts },
    },
    conventions,
  );
}

Deno.test("status record: all of it is read", () => {
  assert.deepEqual(
    read({}, {
      labels: { [names.campaign]: "lund-file", [names.pipeline]: "lion" },
      resourceVersion: "17",
    }),
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
  for (
    const name of [
      "campaign-lund",
      "lund-status",
      "campaign-status",
      "x",
      null,
      5,
    ]
  ) {
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
  assert.equal(
    read({ failedVolumesJobUid: undefined, jobUid: undefined })?.failures.size,
    1,
  );
  assert.equal(
    read({ failedVolumesJobUid: "uid-1", jobUid: "" })?.failures.size,
    0,
  );
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

Deno.test("status record: no value makes the reader throw", () => {
  fc.assert(fc.property(fc.anything(), fc.string(), (value, text) => {
    readStatusRecord(value, conventions);
    readStatusRecord({
      metadata: { namespace: "n", name: "campaign-x-status", labels: value },
      data: value,
    }, conventions);
    assert.ok(read({ failedVolumes: text, phase: value, volumesDone: text }));
  }));
});
