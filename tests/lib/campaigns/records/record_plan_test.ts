import assert from "node:assert/strict";
import fc from "fast-check";
import { summaryOf } from "@/lib/campaigns/records/record_merge.ts";
import { planFailures, planSummary, readStoredRecord, type RecordWrite } from "@/lib/campaigns/records/record_plan.ts";
import { conventions, job, names } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

const { summaryManager, failuresManager, applyManager } = conventions;
const JOB = job({ status: { startTime: "2025-11-20T08:01:00Z", completedIndexes: "0-1", active: 1 } });
const FRESH = summaryOf(JOB, "https://r");
const { finishedAt: _none, ...UNFINISHED } = FRESH;
const LABELS = {
  [names.managedBy]: "converter",
  [names.campaign]: "lund-file",
  [names.pipeline]: "lion-v2",
  [names.kind]: "status",
};
const SUMMARY = Object.keys(FRESH);

interface Parts {
  readonly data?: Readonly<Record<string, string>>;
  readonly labels?: object;
  /** The keys that each manager applied. */
  readonly owned?: Readonly<Record<string, readonly string[]>>;
  readonly operation?: string;
}

function stored({ data = UNFINISHED, labels = LABELS, owned = {}, operation = "Apply" }: Parts = {}) {
  const managedFields = Object.entries(owned).map(([manager, keys]) => ({
    manager,
    operation,
    fieldsV1: { "f:data": { ".": {}, ...Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) } },
  }));
  return readStoredRecord({ metadata: { uid: "map-1", resourceVersion: "7", labels, managedFields }, data });
}

function summary(parts: Parts | null): RecordWrite | null {
  return planSummary(parts && stored(parts), JOB, FRESH, conventions);
}

Deno.test("summary write: only what differs is a reason to write, and the failures are left alone", () => {
  const failures = { failedVolumes: "[]", failedVolumesJobUid: "uid-1" };
  const owned = { [failuresManager]: Object.keys(failures), [summaryManager]: SUMMARY };
  assert.equal(summary({ data: { ...UNFINISHED, ...failures }, owned }), null);
  assert.equal(summary({ data: { ...UNFINISHED, finishedAt: "2025-11-20T10:00:00Z" } }), null);
  const write = summary({ data: { ...UNFINISHED, ...failures, volumesDone: "1" }, owned });
  assert.deepEqual(write, {
    manager: summaryManager,
    force: false,
    labels: LABELS,
    data: UNFINISHED,
    uid: "map-1",
    version: null,
  });
  assert.deepEqual(summary({ labels: {} })?.labels, LABELS);
});

Deno.test("summary write: a record without a uid is this Job's, and is merged", () => {
  const { jobUid: _jobUid, ...older } = { ...UNFINISHED, finishedAt: "2025-11-20T10:00:00Z" };
  const write = summary({ data: older });
  assert.deepEqual([write?.force, write?.data], [false, { ...older, jobUid: "uid-1" }]);
});

Deno.test("summary write: what the apply tool recorded of this Job's ending is its own", () => {
  const ended = { ...UNFINISHED, phase: "Succeeded", volumesDone: "4" };
  assert.equal(summary({ data: ended, owned: { [applyManager]: SUMMARY } }), null);
  const part = ["phase", "volumesDone", "volumesFailed"];
  assert.equal(summary({ data: ended, owned: { [applyManager]: part } }), null);
  const { resultsBase, startedAt, volumesTotal, jobUid } = UNFINISHED;
  assert.deepEqual(summary({ data: { ...ended, resultsBase: "https://old" }, owned: { [applyManager]: part } }), {
    manager: summaryManager,
    force: false,
    labels: {},
    data: { volumesTotal, startedAt, resultsBase, jobUid },
    uid: "map-1",
    version: null,
  });
  // What it merely updated, or owns without the phase, is no ending.
  assert.ok(summary({ data: ended, owned: { [applyManager]: SUMMARY }, operation: "Update" }));
  assert.ok(summary({ data: ended, owned: { [applyManager]: ["volumesDone"] } }));
});

Deno.test("summary write: another Job's record is replaced whole, from the apply tool only as it was read", () => {
  const data = { ...FRESH, phase: "Succeeded", jobUid: "uid-0", finishedAt: "2025-11-19T10:00:00Z", note: "old" };
  const expected = { manager: summaryManager, labels: LABELS, data: FRESH, uid: "map-1" };
  assert.equal(FRESH.finishedAt, "");
  assert.deepEqual(summary({ data, owned: { [summaryManager]: SUMMARY } }), {
    ...expected,
    force: false,
    version: null,
  });
  assert.deepEqual(summary({ data, owned: { [applyManager]: ["phase"] } }), { ...expected, force: true, version: "7" });
});

Deno.test("summary write: an unknown results base is not written, with or without a stored record", () => {
  const unknown = { ...FRESH, resultsBase: "" };
  const { resultsBase: _unknown, ...written } = unknown;
  const { finishedAt: _open, ...unfinished } = written;
  const plan = (parts: Parts | null) => planSummary(parts && stored(parts), JOB, unknown, conventions)?.data;
  assert.deepEqual(plan(null), unfinished);
  const other = { ...FRESH, jobUid: "uid-0" };
  assert.deepEqual(plan({ data: other, owned: { [summaryManager]: SUMMARY } }), written);
  assert.deepEqual(plan({ data: { ...unfinished, volumesDone: "0", resultsBase: "" } }), unfinished);
});

function failures(parts: Parts | null, fresh: [string, string][]): RecordWrite | null {
  return planFailures(parts && stored(parts), "map-1", JOB, new Map(fresh), conventions);
}

Deno.test("failures write: names the Job and the map it is for, and takes the keys over", () => {
  const write = {
    manager: failuresManager,
    force: true,
    labels: {},
    data: { failedVolumes: '[{"id":"b","reason":"y"}]', failedVolumesJobUid: "uid-1" },
    uid: "map-1",
    version: null,
  };
  assert.deepEqual(failures(null, [["b", "y"]]), write);
  assert.deepEqual(failures({}, [["b", "y"]]), write);
});

Deno.test("failures write: which stored failures count, and when nothing is written", () => {
  const named = '[{"id":"a","reason":"x"}]';
  const ours = { [failuresManager]: ["failedVolumes", "failedVolumesJobUid"] };
  const of = (failedVolumes: string, failedVolumesJobUid?: string, jobUid = "uid-1") => ({
    ...UNFINISHED,
    jobUid,
    failedVolumes,
    ...(failedVolumesJobUid !== undefined && { failedVolumesJobUid }),
  });
  const cases: [what: string, Parts, fresh: [string, string][], written: string | null][] = [
    ["nothing new", { data: of(named, "uid-1"), owned: ours }, [], null],
    ["the same", { data: of(named, "uid-1"), owned: ours }, [["a", "x"]], null],
    ["the same, not ours yet", { data: of(named, "uid-1"), owned: { [summaryManager]: ["failedVolumes"] } }, [], named],
    [
      "a new one",
      { data: of(named, "uid-1"), owned: ours },
      [["b", ""]],
      '[{"id":"b","reason":""},{"id":"a","reason":"x"}]',
    ],
    ["another run's", { data: of(named, "uid-0"), owned: ours }, [["b", "y"]], '[{"id":"b","reason":"y"}]'],
    ["another run's, none new", { data: of(named, "uid-0"), owned: ours }, [], "[]"],
    ["older than their uid", { data: of(named), owned: ours }, [], named],
    ["older than their uid, another Job's", { data: of(named, undefined, "uid-0"), owned: ours }, [], "[]"],
    ["no list", { data: of("x", "uid-1"), owned: ours }, [["b", "y"]], '[{"id":"b","reason":"y"}]'],
  ];
  for (const [what, parts, fresh, written] of cases) {
    assert.equal(failures(parts, fresh)?.data.failedVolumes ?? null, written, what);
  }
});

Deno.test("stored record: no value makes the reader throw, and odd fields own nothing", () => {
  fc.assert(fc.property(fc.anything(), fc.anything(), (value, fields) => {
    readStoredRecord(value);
    const metadata = {
      uid: "u",
      labels: value,
      managedFields: [value, { manager: "m", operation: "Apply", fieldsV1: fields }],
    };
    readStoredRecord({ metadata, data: value })?.ownedBy("m");
  }));
  assert.equal(readStoredRecord(null), null);
  assert.equal(stored({ data: {} })?.data.size, 0);
});
