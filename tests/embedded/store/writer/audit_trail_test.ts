import assert from "node:assert/strict";
import fc from "fast-check";
import { checkChain } from "@/embedded/store/audit_record.ts";
import { AuditRecords } from "@/embedded/store/audit_records.ts";
import type { Change, ChangeKind } from "@/embedded/store/changes.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { expireAudit } from "@/embedded/store/writer/audit_trail.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";
import {
  createBucket,
  deleteObject,
  deleteObjects,
  putObject,
  utf8,
  writtenStore,
} from "@/tests/embedded/store/changes_fixture.ts";

const DAY_MS = 86_400_000;
const ORIGIN = { actor: "anna", isSystem: false, address: "192.0.2.7", requestId: "r1", isByGateway: false };

type Store = ReturnType<typeof writtenStore>;

/** Actions and keys, the oldest first. */
function recorded({ statements }: Pick<Store, "statements">): string[] {
  return statements.rows("SELECT action, coalesce(CAST(key AS TEXT), '') FROM audit ORDER BY id")
    .map(([action, key]) => `${action} ${key}`.trim());
}

Deno.test("audit trail: a change has its record in the same commit, with who requested it", () => {
  using store = writtenStore([createBucket()]);
  store.writer.commit([{ ...putObject("å", "first"), origin: ORIGIN }, putObject("å", "second"), deleteObject("å")]);
  const { records, next } = new AuditRecords(store.statements).page(0, {}, null, 100);
  assert.equal(next, null);
  assert.deepEqual(records.map(({ action, details }) => [action, details]), [
    ["object_delete", {}],
    ["object_write", { bytes: 6, replaced: true }],
    ["object_write", { bytes: 5 }],
    ["bucket_create", { versioning: "off" }],
  ]);
  const [, , { time, ...first }] = records;
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 600_000);
  assert.deepEqual(first, {
    id: "2",
    source: "store",
    action: "object_write",
    tenant: null,
    actor: { name: "anna" },
    address: "192.0.2.7",
    request_id: "r1",
    target: { kind: "object", bucket: "b", key: "å" },
    result: "succeeded",
    status: 200,
    details: { bytes: 5 },
  });
});

Deno.test("audit trail: a rejected change has no record, and one for each of several deletions that was made", () => {
  using store = writtenStore([createBucket(), putObject("a", "a"), putObject("b", "b")]);
  const rejected = putObject("a", "again", { condition: { absent: true } });
  const several = deleteObjects([
    { key: utf8("a"), version: null, ifMatch: "other" },
    { key: utf8("b"), version: null },
    { key: utf8("c"), version: null },
  ]);
  const [put] = store.writer.commit([rejected, several]);
  assert.equal(put.ok, false);
  assert.deepEqual(recorded(store).slice(3), ["object_delete b", "object_delete c"]);
  assert.deepEqual(checkChain(store.statements), { records: 5, fault: null });
});

Deno.test("audit trail: a group that could not be committed leaves no record, and the chain goes on", () => {
  using store = writtenStore([createBucket()]);
  const exec = store.index.exec.bind(store.index);
  store.index.exec = (sql: string) => {
    if (sql === "COMMIT") throw new Error("disk I/O error");
    exec(sql);
  };
  assert.equal(store.writer.commit([putObject("lost", "x")])[0].ok, false);
  store.index.exec = exec;
  assert.ok(store.writer.commit([putObject("made", "x")])[0].ok);
  assert.deepEqual(recorded(store), ["bucket_create", "object_write made"]);
  assert.deepEqual(checkChain(store.statements), { records: 2, fault: null });
});

Deno.test("audit trail: deletions one by one on a full disk have one record each", () => {
  using store = writtenStore([createBucket(), putObject("a", "a"), putObject("b", "b")]);
  const exec = store.index.exec.bind(store.index);
  let commits = 0;
  store.index.exec = (sql: string) => {
    if (sql === "COMMIT" && ++commits === 1) throw new Error("database or disk is full");
    exec(sql);
  };
  const objects = ["a", "b"].map((name) => ({ key: utf8(name), version: null }));
  assert.ok(store.writer.commit([{ ...deleteObjects(objects), origin: ORIGIN }])[0].ok);
  assert.ok(commits > 1);
  const rows = store.statements.rows("SELECT actor FROM audit WHERE action = 'object_delete'");
  assert.deepEqual(rows, [["anna"], ["anna"]]);
});

Deno.test("audit trail: a writer that is opened again continues the chain", () => {
  using store = writtenStore([createBucket(), putObject("a", "a")]);
  const index = openIndexForWriting(store.folder);
  new Writer(store.folder, index).commit([putObject("b", "b")]);
  assert.deepEqual(checkChain(new Statements(index)), { records: 3, fault: null });
  index.close();
});

Deno.test("audit trail: any record that is changed, exchanged or removed is found, unless it is the last", () => {
  const changed = fc.constantFrom(
    "at_ms = at_ms + 1",
    "tenant = tenant + 1",
    "action = 'login_failed'",
    "actor = 'eve'",
    "is_system = 1",
    "address = '203.0.113.9'",
    "request = 'r2'",
    "by_gateway = 1",
    "bucket = 'other'",
    "key = x'7a'",
    "version = '1'",
    "name = 'other'",
    "details = '{}'",
    "hash = zeroblob(32)",
  );
  const damage = fc.oneof(
    fc.record({ set: changed, id: fc.integer({ min: 2, max: 9 }) }),
    fc.record({ removed: fc.integer({ min: 1, max: 8 }), count: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ exchanged: fc.uniqueArray(fc.integer({ min: 2, max: 9 }), { minLength: 2, maxLength: 2 }) }),
  );
  using store = writtenStore([createBucket()]);
  store.writer.commit(
    ["a", "b", "c", "d", "e", "f", "g", "h"].map((key) => ({ ...putObject(key, key), origin: ORIGIN })),
  );
  assert.deepEqual(checkChain(store.statements), { records: 9, fault: null });
  fc.assert(fc.property(damage, (damage) => {
    store.index.exec("BEGIN");
    if ("set" in damage) store.index.exec(`UPDATE audit SET ${damage.set} WHERE id = ${damage.id}`);
    else if ("removed" in damage) {
      const last = Math.min(damage.removed + damage.count - 1, 8);
      store.index.exec(`DELETE FROM audit WHERE id BETWEEN ${damage.removed} AND ${last}`);
    } else {
      const [a, b] = damage.exchanged;
      store.index.exec(`UPDATE audit SET id = -1 WHERE id = ${a}; UPDATE audit SET id = ${a} WHERE id = ${b};
        UPDATE audit SET id = ${b} WHERE id = -1`);
    }
    const { fault } = checkChain(store.statements);
    store.index.exec("ROLLBACK");
    assert.notEqual(fault, null);
  }));
});

Deno.test("audit trail: records that are too old leave from the oldest on, and the rest can be checked", () => {
  using store = writtenStore([createBucket()]);
  store.writer.commit(["a", "b", "c"].map((key) => putObject(key, key)));
  store.index.exec("UPDATE audit SET at_ms = 100 WHERE id <= 2; UPDATE audit SET at_ms = 50 WHERE id = 4");
  const [[recordedMs]] = store.statements.rows("SELECT at_ms FROM audit WHERE id = 3");
  const nowMs = Number(recordedMs) + DAY_MS;
  const expire = (): Change => ({ kind: "expireAudit", input: { nowMs, retentionDays: 1 } });
  const [outcome] = store.writer.commit([expire()]);
  assert.deepEqual(outcome, { ok: true, result: { expired: 2 } });
  assert.deepEqual(store.writer.commit([expire()]), [{ ok: true, result: { expired: 0 } }]);
  assert.deepEqual(store.statements.rows("SELECT id FROM audit ORDER BY id"), [[3], [4]]);
  const [third] = store.statements.rows("SELECT hash FROM audit_start");
  assert.equal(third[0] instanceof Uint8Array && third[0].length, 32);
  // What is left still follows what was removed: a start that was changed is found.
  assert.match(String(checkChain(store.statements).fault), /record 4 was changed/);
  store.index.exec("UPDATE audit_start SET hash = zeroblob(32)");
  assert.match(String(checkChain(store.statements).fault), /record 3 was changed/);
});

Deno.test("audit trail: age counts from the day after the last one with records before today, so a clock that is ahead removes none", () => {
  using store = writtenStore([createBucket(), putObject("a", "a"), putObject("b", "b"), putObject("c", "c")]);
  const noon = Date.UTC(2026, 10, 20, 12);
  /** Expires records of these days, of two tenants by turns, as on another day; the numbers that are left. */
  const left = (days: readonly number[], today: number, retentionDays: number) => {
    store.index.exec("BEGIN");
    for (const [i, day] of days.entries()) {
      store.index.exec(`UPDATE audit SET at_ms = ${noon + day * DAY_MS}, tenant = ${i % 2} WHERE id = ${i + 1}`);
    }
    const result = expireAudit(store.statements, { nowMs: noon + today * DAY_MS, retentionDays });
    const ids = store.statements.rows("SELECT id FROM audit ORDER BY id").map(([id]) => Number(id));
    assert.equal(result.expired, 4 - ids.length);
    store.index.exec("ROLLBACK");
    return ids;
  };
  assert.deepEqual(left([0, 1, 2, 3], 3, 1), [3, 4]);
  assert.deepEqual(left([0, 1, 2, 3], 3, 2), [2, 3, 4]);
  assert.deepEqual(left([0, 1, 2, 3], 3650, 4), [1, 2, 3, 4], "years ahead");
  assert.deepEqual(left([0, 1, 2, 3650], 3650, 365), [1, 2, 3, 4], "with a record of its day");
  assert.deepEqual(left([0, 1, 2, 3650], 3, 365), [1, 2, 3, 4], "set right again");
  assert.deepEqual(left([0, 1, 2, 3650], 3651, 365), [4], "a day later");
  assert.deepEqual(left([3, 3, 3, 3], 3, 1), [1, 2, 3, 4], "of today alone");
});

Deno.test("audit trail: goes on after all of its records were removed", () => {
  using store = writtenStore([createBucket(), putObject("a", "a")]);
  store.index.exec("UPDATE audit SET at_ms = 100");
  // No setting is that short.
  store.writer.commit([{ kind: "expireAudit", input: { nowMs: Date.now(), retentionDays: 0 } }]);
  const index = openIndexForWriting(store.folder);
  new Writer(store.folder, index).commit([putObject("b", "b")]);
  assert.deepEqual(new Statements(index).rows("SELECT id FROM audit"), [[3]]);
  assert.deepEqual(checkChain(new Statements(index)), { records: 1, fault: null });
  index.close();
});

/** What has no record: the store's bookkeeping, and parts of uploads until they are an object. */
const NOT_RECORDED: readonly ChangeKind[] = ["countReads", "expireUsage", "expireUploads", "resetFailures"];

Deno.test("audit trail: the store's own bookkeeping is not recorded", () => {
  using store = writtenStore([createBucket()]);
  const inputs = {
    countReads: { reads: [] },
    expireUsage: { beforeHour: 1 },
    expireUploads: { atMs: 1 },
    resetFailures: { user: 1 },
  };
  for (const kind of NOT_RECORDED) {
    const change = { kind, input: inputs[kind as keyof typeof inputs] } as Change;
    assert.ok(store.writer.commit([change])[0].ok, kind);
  }
  assert.deepEqual(recorded(store), ["bucket_create"]);
});
