import assert from "node:assert/strict";
import fc from "fast-check";
import { instantOf } from "@/lib/campaigns/projection/instants.ts";
import { readFailures, readStatusRecord, type RecordSummary } from "@/lib/campaigns/projection/status_record.ts";
import {
  type Failures,
  failuresText,
  isRecorded,
  MAX_FAILURES_BYTES,
  MAX_NAMED_FAILURES,
  mergeFailures,
  mergeSummary,
  summaryOf,
} from "@/lib/campaigns/records/record_merge.ts";
import { condition, conventions, job } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

const FRESH: RecordSummary = {
  phase: "Running",
  volumesTotal: "4",
  volumesDone: "2",
  volumesFailed: "0",
  startedAt: "2025-11-20T08:01:00Z",
  finishedAt: "",
  resultsBase: "https://r/ns/p",
  jobUid: "uid-1",
};

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

const failures = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("", " ", "x", "y")))
  .map((entries): Failures => new Map(entries));

Deno.test("record failures: the order of writers does not change the named volumes, and no reason is lost", () => {
  fc.assert(fc.property(failures, failures, failures, (stored, one, other) => {
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
  const wide = new Map(
    Array.from({ length: 50 }, (_, index) => ["\u0001".repeat(420) + index, "\u0001".repeat(300)]),
  );
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
