import assert from "node:assert/strict";

import {
  damageKinds,
  damageOf,
  dealtWith,
  expectedOf,
  type FixityCheck,
  readFixityCheck,
  readFixityRow,
  resultsOf,
  rowFilterOf,
  rowFilters,
} from "@/lib/presentation/storage/fixity_check.ts";

const check = (more: Record<string, unknown> = {}): FixityCheck => {
  const read = readFixityCheck({ task_id: "1", status: "done", prefix: "", intact: 5, ...more }, "letters");
  assert.ok(read);
  return read;
};

Deno.test("fixity check: what a gateway leaves out is none, null or zero, and what is no check is null", () => {
  const read = check({ intact: -1, bytes: "much", rate: NaN, missing: 2.5 });
  assert.deepEqual([read.bytes, read.rate, read.totals.missing, read.manifest, read.bag], [0, 0, 0, null, null]);
  assert.deepEqual([read.rateLimit, read.isFull, read.written, read.error], [null, false, [], ""]);
  for (
    const none of [null, [], {}, { task_id: "1" }, { task_id: "1", status: "odd" }, { task_id: 1, status: "done" }]
  ) {
    assert.equal(readFixityCheck(none, "letters"), null);
  }
});

Deno.test("fixity check: damage is what is changed, missing or unreadable; every result is dealt with", () => {
  const one = check({
    intact: 1,
    changed: 2,
    missing: 4,
    unreadable: 8,
    unproven: 16,
    deleted: 32,
    not_in_manifest: 64,
  });
  assert.equal(damageOf(one), 14);
  assert.equal(dealtWith(one), 127);
});

Deno.test("fixity check: filters add up to all, and name only what there is", () => {
  const one = check({ intact: 5, changed: 2, unreadable: 1, deleted: 3 });
  assert.deepEqual(rowFilters(one), [{ filter: "damaged", objects: 3 }, { filter: "deleted", objects: 3 }, {
    filter: "all",
    objects: 6,
  }]);
  assert.deepEqual(rowFilters(check({ intact: 5, full: true })), [{ filter: "intact", objects: 5 }]);
  assert.deepEqual(damageKinds(one).map(({ filter }) => filter), ["changed", "unreadable"]);
  assert.equal(rowFilterOf("deleted", one), "deleted");
  assert.equal(rowFilterOf("unreadable", one), "unreadable");
  for (const named of [null, "", "missing", "__proto__"]) assert.equal(rowFilterOf(named, one), "damaged");
  assert.equal(rowFilterOf("all", check()), null);
  assert.deepEqual([resultsOf("all"), resultsOf("damaged")?.length, resultsOf("deleted")], [null, 3, ["deleted"]]);
});

Deno.test("fixity check: how much it will read follows from its manifest, the last check of the place, or the store", () => {
  const running = check({ status: "processing", task_id: "2", prefix: "a/" });
  const whole = check({ status: "processing", task_id: "2" });
  const usage = { objects: 9, bytes: 90 };
  assert.equal(expectedOf(running, [running], usage), null);
  assert.deepEqual(expectedOf(whole, [whole], usage), usage);
  const before = check({ prefix: "a/", intact: 7, bytes: 70 });
  assert.deepEqual(expectedOf(running, [running, before], usage), { objects: 7, bytes: 70 });
  for (const other of [{ prefix: "b/" }, { all_versions: true }, { status: "canceled" }]) {
    assert.equal(expectedOf(running, [check({ prefix: "a/", intact: 7, ...other })], undefined), null);
  }
  // More was read than expected: the store has grown.
  assert.equal(expectedOf(check({ status: "processing", intact: 10 }), [], usage), null);
  const manifest = { keys: ["manifest-sha256.txt"], entries: 12, invalid_lines: 0 };
  const named = check({ status: "processing", task_id: "2", prefix: "a/", manifest });
  assert.deepEqual(expectedOf(named, [named, before], usage), { objects: 12, bytes: null });
});

Deno.test("fixity row: a row without its key or with a result that is not known is none", () => {
  assert.equal(readFixityRow({ key: "a", result: "changed", size: 1.5 })?.size, null);
  for (const none of [{ key: "a" }, { result: "changed" }, { key: "a", result: "odd" }, null, "x"]) {
    assert.equal(readFixityRow(none), null);
  }
});
