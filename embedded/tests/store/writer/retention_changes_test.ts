import assert from "node:assert/strict";
import type { Cell } from "@/embedded/store/statements.ts";
import { createBucket, deleteObject, putObject, writtenStore } from "@/embedded/tests/store/changes_fixture.ts";

const DAY = 24 * 60 * 60 * 1000;

function openStore(settings: Record<string, unknown>) {
  const store = writtenStore([createBucket({ versioning: "enabled", versionSettings: JSON.stringify(settings) })]);
  const prune = (atMs: number): number => {
    const [outcome] = store.writer.commit([{ kind: "pruneVersions", input: { atMs } }]);
    assert.ok(outcome.ok && outcome.result && "pruned" in outcome.result);
    return outcome.result.pruned;
  };
  return { ...store, prune };
}

const put = (key: string, text: string, atMs: number) => putObject(key, text, { atMs });

const remove = (key: string, atMs: number, version: string | null = null) => deleteObject(key, { version, atMs });

Deno.test("prune: days count from when a version became old, and the newest stays", () => {
  using store = openStore({ prune: true, pruneDays: 10 });
  store.writer.commit([put("a", "one", 0)]);
  assert.equal(store.prune(100 * DAY), 0);
  store.writer.commit([put("a", "two", 100 * DAY), put("hidden", "x", 100 * DAY), remove("hidden", 101 * DAY)]);
  assert.equal(store.prune(110 * DAY - 1), 0);
  assert.equal(store.prune(110 * DAY), 1);
  assert.equal(store.prune(111 * DAY), 1);
  assert.deepEqual(store.statements.rows("SELECT is_marker FROM history"), [[1]]);
  assert.equal(store.prune(10_000 * DAY), 0);
  // The marker is old once there is something newer, and newest again when that is gone.
  store.writer.commit([put("hidden", "y", 200 * DAY)]);
  store.writer.commit([remove("hidden", 200 * DAY, String(200 * DAY * 1000))]);
  assert.equal(store.prune(10_000 * DAY), 0);
  store.writer.commit([put("hidden", "z", 300 * DAY)]);
  assert.equal(store.prune(310 * DAY), 1);
  assert.deepEqual(store.statements.rows("SELECT etag FROM objects ORDER BY key"), [["two"], ["z"]]);
  assert.deepEqual(store.statements.row("SELECT stored_bytes, stored_count FROM buckets"), [4, 2]);
  assert.equal(store.statements.row("SELECT count(*) FROM bodies")?.[0], 2);
});

Deno.test("prune: one change stops at its limit, and the next continues", () => {
  using store = openStore({ prune: true, pruneDays: 1 });
  store.writer.commit(Array.from({ length: 501 }, (_, i) => put("a", `v${i}`, 1)));
  const steps: number[] = [];
  for (let pruned; (pruned = store.prune(10 * DAY)) > 0;) steps.push(pruned);
  assert.deepEqual(steps, [200, 200, 100]);
});

Deno.test("deletion records: one for each permanent deletion, removed a limited number at a time", () => {
  using store = openStore({ keepDeletionRecords: true });
  const keys = Array.from({ length: 1200 }, (_, i) => `k${i}`);
  store.writer.commit(keys.map((key) => put(key, "x", 1)));
  const records = () => store.statements.row("SELECT count(*) FROM deletion_records")?.[0];
  store.writer.commit(keys.map((key) => remove(key, 2)));
  assert.equal(records(), 0);
  const versions = store.statements.rows("SELECT key, seq FROM history WHERE is_marker = 0");
  const decode = (key: Cell) => new TextDecoder().decode(key instanceof Uint8Array ? key : new Uint8Array());
  store.writer.commit(versions.map(([key, seq]) => remove(decode(key), 3, String(seq))));
  assert.equal(records(), 1200);
  const clear = () => store.writer.commit([{ kind: "clearDeletionRecords", input: {} }])[0];
  assert.deepEqual(clear(), { ok: true, result: { cleared: 0 }, reports: [] });
  const settings = { keepDeletionRecords: false, prune: true, pruneDays: 0 };
  store.writer.commit([{ kind: "setVersionSettings", input: { bucket: 1, versioning: null, settings } }]);
  assert.deepEqual([clear(), clear(), clear()].map((outcome) => outcome.ok && outcome.result), [
    { cleared: 1000 },
    { cleared: 200 },
    { cleared: 0 },
  ]);
});
