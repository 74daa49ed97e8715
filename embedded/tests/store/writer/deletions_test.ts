import assert from "node:assert/strict";
import fc from "fast-check";
import type { Versioning } from "@/embedded/store/changes.ts";
import { deleteAll } from "@/embedded/store/s3/write_object.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import {
  changesOf,
  createBucket,
  deleteObject,
  deleteObjects,
  deletionsOf,
  putObject,
  utf8,
  writtenStore,
} from "@/embedded/tests/store/changes_fixture.ts";

const TABLES = [
  "objects",
  "history",
  "bodies",
  "garbage",
  "deletion_records",
  "buckets",
  "tenants",
  "usage",
  "part_bodies",
];

/** What the counts of the bucket say, and what is stored. */
const COUNTED = `SELECT stored_count, stored_bytes, used_bytes, multipart_objects, multipart_object_parts,
  multipart_object_bytes FROM buckets JOIN tenants ON tenants.id = tenant`;
const STORED = `SELECT count(*), coalesce(sum(size), 0), coalesce(sum(size), 0), count(parts),
  coalesce(sum(json_array_length(parts, '$.parts')), 0), coalesce(sum(size) FILTER (WHERE parts IS NOT NULL), 0)
  FROM (SELECT size, parts FROM objects UNION ALL SELECT size, parts FROM history WHERE is_marker = 0)`;

function openStore(versioning: Versioning, settings: Record<string, unknown> = {}) {
  const store = writtenStore([
    { kind: "createTenant", input: { name: "t", record: "{}", firstUser: null, atMs: 0 } },
    createBucket({ tenant: 1, versioning, versionSettings: JSON.stringify(settings) }),
  ]);
  return { ...store, dump: () => TABLES.map((table) => [table, store.statements.rows(`SELECT * FROM ${table}`)]) };
}

Deno.test("several deletions: they have the same result as the same deletions one by one", () => {
  const key = fc.constantFrom("a", "b", "c");
  const write = fc.record({ key, text: fc.constantFrom("x", "yy"), isInParts: fc.boolean() });
  const deletion = fc.record({
    key,
    version: fc.option(fc.oneof(fc.constant("null"), fc.nat(6))),
    ifMatch: fc.option(fc.constantFrom("x", "yy", "*")),
  });
  fc.assert(
    fc.property(
      fc.constantFrom<Versioning>("off", "enabled", "suspended"),
      fc.record({ useDeleteMarkers: fc.boolean(), keepDeletionRecords: fc.boolean(), prune: fc.boolean() }),
      fc.array(write, { maxLength: 8 }),
      fc.array(deletion, { minLength: 1, maxLength: 8 }),
      (versioning, settings, writes, deletions) => {
        using together = openStore(versioning, settings);
        using single = openStore(versioning, settings);
        const versions: string[] = [];
        for (const store of [together, single]) {
          for (const [n, { key, text, isInParts }] of writes.entries()) {
            const [outcome] = store.writer.commit([putObject(key, text)]);
            assert.ok(outcome.ok && outcome.result && "version" in outcome.result);
            versions[n] = String(outcome.result.version);
            // As an upload in parts leaves it: its parts are small, so they are in the index.
            if (!isInParts) continue;
            store.statements.run(
              `UPDATE objects SET body = NULL, parts = json_object('upload', 'u',
                 'parts', json_array(json_object('body', body, 'size', size))) WHERE key = ? AND parts IS NULL`,
              utf8(key),
            );
            store.statements.run(
              `UPDATE buckets SET multipart_objects = multipart_objects + 1,
                 multipart_object_parts = multipart_object_parts + 1, multipart_object_bytes = multipart_object_bytes + ?`,
              text.length,
            );
          }
        }
        const named = deletions.map(({ key, version, ifMatch }) => ({
          key,
          version: typeof version === "number" ? versions[version] ?? "1" : version,
          ifMatch,
        }));
        const all = deleteObjects(named.map((one) => ({ ...one, key: utf8(one.key) })));
        const outcomes = deletionsOf(together.writer.commit([all])[0]);
        const expected = named.map(({ key, ...rest }) => {
          return deletionsOf(single.writer.commit([deleteObject(key, rest)])[0])[0];
        });
        assert.deepEqual(outcomes, expected);
        assert.deepEqual(together.dump(), single.dump());
        assert.deepEqual(together.statements.row(COUNTED), together.statements.row(STORED));
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("several deletions: in a deleted bucket all of them fail", () => {
  using store = openStore("off");
  store.index.exec("DELETE FROM buckets");
  const [outcome] = store.writer.commit([deleteObjects([{ key: utf8("a"), version: null }])]);
  assert.deepEqual(outcome, { ok: false, error: "NoSuchBucket" });
});

Deno.test("several deletions: where the disk is full as many are done as find room for their markers", async () => {
  using store = openStore("enabled");
  const keys = Array.from({ length: 200 }, (_, n) => `${n}/`.padEnd(500, "x"));
  for (const key of keys) assert.ok(store.writer.commit([putObject(key, "text")])[0].ok);
  const pages = Number(store.statements.row("PRAGMA page_count")?.[0]);
  store.index.exec(`PRAGMA max_page_count = ${pages + 4}`);
  const outcomes = await deleteAll(changesOf(store.writer), 1, keys.map((key) => ({ key: utf8(key), version: null })));
  const failed = outcomes.filter((one) => one instanceof StoreError);
  assert.ok(failed.length > 0 && failed.length < keys.length, `${failed.length} failed`);
  assert.ok(failed.every(({ code }) => code === "OutOfSpace"));
  const [markers] = store.statements.row("SELECT count(*) FROM history WHERE is_marker = 1") ?? [];
  assert.equal(markers, keys.length - failed.length);
  assert.equal(store.statements.row("SELECT deletes FROM usage")?.[0], markers);
  assert.deepEqual(store.statements.rows("PRAGMA integrity_check"), [["ok"]]);
});
