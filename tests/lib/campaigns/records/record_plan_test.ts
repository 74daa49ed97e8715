import fc from "fast-check";
import assert from "node:assert/strict";
import { readFailures, readStatusRecord, type RecordSummary } from "@/lib/campaigns/projection/status_record.ts";
import { instantOf } from "@/lib/campaigns/projection/values.ts";
import {
  type Failures,
  failuresText,
  isRecorded,
  MAX_FAILURES_BYTES,
  MAX_NAMED_FAILURES,
  mergeFailures,
  mergeSummary,
  planFailures,
  planSummary,
  readStoredRecord,
  type RecordWrite,
  summaryOf,
} from "@/lib/campaigns/records/record_plan.ts";
import { condition, conventions, job, names } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

const { summaryManager, failuresManager } = conventions;
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

Deno.test("record summary: what a live Job says, in the record's own words", () => {
  const status = {
    conditions: [condition("Failed", "2025-11-20T11:00:00Z")],
    completedIndexes: "0-1",
    failedIndexes: "2,3",
  };
  assert.deepEqual(summaryOf(job({ status }), "https://r/"), {
    phase: "PartiallyFailed",
    volumesTotal: "4",
    volumesDone: "2",
    volumesFailed: "2",
    startedAt: "2025-11-20T08:01:00Z",
    finishedAt: "2025-11-20T11:00:00Z",
    resultsBase: "https://r/batch-default/lion-v2",
    jobUid: "uid-1",
  });
  const fresh = summaryOf(job({ spec: { suspend: true }, status: { startTime: null } }), null);
  assert.deepEqual([fresh.phase, fresh.startedAt, fresh.finishedAt, fresh.resultsBase], ["Queued", "", "", ""]);
});

Deno.test("record summary: an empty text replaces nothing, everything else is the newest", () => {
  const cases: [key: keyof RecordSummary, stored: string | undefined, fresh: string, merged: string | undefined][] = [
    ["phase", "Queued", "Running", "Running"],
    ["phase", "Succeeded", "Running", "Running"],
    ["volumesDone", "5", "3", "3"],
    ["startedAt", "2025-11-20T08:00:00Z", "", "2025-11-20T08:00:00Z"],
    ["startedAt", undefined, "", ""],
    ["resultsBase", "https://old", "https://new", "https://new"],
    ["resultsBase", "https://old", "", "https://old"],
    ["resultsBase", undefined, "", undefined],
    ["jobUid", "", "uid-1", "uid-1"],
  ];
  for (const [key, stored, fresh, merged] of cases) {
    const map = mergeSummary(new Map(stored === undefined ? [] : [[key, stored]]), { ...FRESH, [key]: fresh });
    assert.equal(map.get(key), merged, `${key} ${stored} ${fresh}`);
  }
});

Deno.test("record summary: the ending only moves to a later or the same instant", () => {
  const cases: [stored: string | undefined, fresh: string, merged: string | undefined][] = [
    [undefined, "", undefined],
    ["", "", ""],
    [undefined, "2025-11-20T10:00:00Z", "2025-11-20T10:00:00Z"],
    ["2025-11-20T10:00:00Z", "", "2025-11-20T10:00:00Z"],
    ["2025-11-20T10:00:00Z", "2025-11-20T09:59:59Z", "2025-11-20T10:00:00Z"],
    ["2025-11-20T10:00:00Z", "2025-11-20T10:00:01Z", "2025-11-20T10:00:01Z"],
    ["2025-11-20T10:00:00Z", "2025-11-20T12:00:00+02:00", "2025-11-20T12:00:00+02:00"],
    ["2025-11-20T12:00:00+02:00", "2025-11-20T09:00:00", "2025-11-20T12:00:00+02:00"],
    ["2025-11-20T10:00:00", "2025-11-20T10:00:00Z", "2025-11-20T10:00:00Z"],
    ["2025-11-20T10:00:00Z", "soon", "2025-11-20T10:00:00Z"],
    ["soon", "2025-11-20T10:00:00Z", "2025-11-20T10:00:00Z"],
    ["soon", "later", "soon"],
  ];
  for (const [stored, fresh, merged] of cases) {
    const map = mergeSummary(new Map(stored === undefined ? [] : [["finishedAt", stored]]), {
      ...FRESH,
      finishedAt: fresh,
    });
    assert.equal(map.get("finishedAt"), merged, `${stored} ${fresh}`);
  }
});

const time = fc.oneof(
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") }).map((date) => date.toISOString()),
  fc.constantFrom("", "soon"),
);

Deno.test("record summary: merging in any order ends at the latest instant, and no value is dropped", () => {
  fc.assert(fc.property(fc.array(time, { minLength: 1, maxLength: 5 }), fc.string(), (times, startedAt) => {
    const told = (order: readonly string[]) =>
      order.reduce(
        (stored, finishedAt) => mergeSummary(stored, { ...FRESH, startedAt: "", finishedAt }),
        new Map([["startedAt", startedAt]]),
      );
    const instants = times.map(instantOf).filter((instant) => instant !== null);
    for (const order of [times, times.toReversed()]) {
      const merged = told(order);
      assert.equal(merged.get("startedAt"), startedAt);
      if (instants.length > 0) assert.equal(instantOf(merged.get("finishedAt") ?? ""), Math.max(...instants));
    }
  }));
});

Deno.test("record summary: detects whether a record is up to date", () => {
  const record = (data: object) => {
    const read = readStatusRecord({
      metadata: { namespace: "ns", name: "campaign-x-status" },
      data: { ...FRESH, ...data },
    }, conventions);
    assert.ok(read);
    return read;
  };
  const cases: [stored: object, fresh: Partial<RecordSummary>, same: boolean][] = [
    [{}, {}, true],
    [{}, { startedAt: "", resultsBase: "" }, true],
    [{ finishedAt: "2025-11-20T10:00:00Z" }, {}, true],
    [{ finishedAt: "2025-11-20T10:00:00Z" }, { finishedAt: "2025-11-20T09:00:00Z" }, true],
    [{ finishedAt: "2025-11-20T10:00:00Z" }, { finishedAt: "2025-11-20T11:00:00Z" }, false],
    [{}, { finishedAt: "2025-11-20T11:00:00Z" }, false],
    [{}, { phase: "Paused" }, false],
    [{}, { volumesTotal: "5" }, false],
    [{}, { volumesDone: "3" }, false],
    [{}, { volumesFailed: "1" }, false],
    [{}, { startedAt: "2025-11-20T08:02:00Z" }, false],
    [{}, { resultsBase: "https://other" }, false],
    [{}, { jobUid: "uid-2" }, false],
    [{ jobUid: undefined }, {}, false],
  ];
  for (const [stored, fresh, same] of cases) {
    assert.equal(isRecorded(record(stored), { ...FRESH, ...fresh }), same, JSON.stringify({ stored, fresh }));
  }
});

Deno.test("record failures: the union, fresh ones first; a blank sentence erases nothing", () => {
  const cases: [stored: [string, string][], fresh: [string, string][], merged: [string, string][]][] = [
    [[], [], []],
    [[["a", "x"]], [], [["a", "x"]]],
    [[["a", "x"]], [["b", "y"]], [["b", "y"], ["a", "x"]]],
    [[["a", "old"]], [["a", "new"]], [["a", "new"]]],
    [[["a", "old"]], [["a", ""]], [["a", "old"]]],
    [[["a", "old"]], [["a", "  "]], [["a", "old"]]],
    [[["a", ""]], [["a", ""]], [["a", ""]]],
    [[["__proto__", "x"]], [["constructor", ""]], [["constructor", ""], ["__proto__", "x"]]],
  ];
  for (const [stored, fresh, merged] of cases) {
    assert.deepEqual([...mergeFailures(new Map(stored), new Map(fresh))], merged, JSON.stringify({ stored, fresh }));
  }
});

const someFailures = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("", " ", "x", "y")))
  .map((entries): Failures => new Map(entries));

Deno.test("record failures: the order of writers does not change the named volumes, and no reason is lost", () => {
  fc.assert(fc.property(someFailures, someFailures, someFailures, (stored, one, other) => {
    const first = mergeFailures(mergeFailures(stored, one), other);
    const second = mergeFailures(mergeFailures(stored, other), one);
    assert.deepEqual([...first.keys()].sort(), [...second.keys()].sort());
    for (const [id, sentence] of [...stored, ...one, ...other]) {
      if (sentence.trim()) assert.ok(first.get(id)?.trim() && second.get(id)?.trim(), id);
    }
    assert.deepEqual(mergeFailures(first, other), first);
  }));
});

Deno.test("record failures: at most fifty, each text at most 300 characters, all within 200 KiB", () => {
  const many = new Map(Array.from({ length: 60 }, (_, index) => [`v${index}`, "x"]));
  assert.equal(failuresText(new Map()), "[]");
  assert.equal(failuresText(new Map([["a", 'say "x"']])), '[{"id":"a","reason":"say \\"x\\""}]');
  assert.deepEqual([...readFailures(failuresText(many)).keys()], [...many.keys()].slice(0, MAX_NAMED_FAILURES));

  const long = mergeFailures(new Map(), new Map([["i".repeat(400), "\u{1F600}".repeat(400)]]));
  assert.deepEqual([...long].map(([id, text]) => [id.length, [...text].length]), [[300, 300]]);

  // A control character takes six bytes: fifty whole entries are 180 KB, and with ids like that more than there is room.
  const wide = new Map(Array.from({ length: 50 }, (_, index) => ["\u0001".repeat(420) + index, "\u0001".repeat(300)]));
  const text = failuresText(wide);
  const kept = readFailures(text).size;
  assert.ok(kept > 0 && kept < 50);
  const bytes = (value: string) => new TextEncoder().encode(value).length;
  assert.ok(bytes(text) <= MAX_FAILURES_BYTES);
  assert.ok(
    bytes(text) + bytes(JSON.stringify({ id: "\u0001".repeat(422), reason: "\u0001".repeat(300) })) >
      MAX_FAILURES_BYTES,
  );
});
