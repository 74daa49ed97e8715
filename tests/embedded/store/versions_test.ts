import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { Change, Versioning } from "@/embedded/store/changes.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { Versions } from "@/embedded/store/versions.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function openBucket() {
  const folder = Deno.makeTempDirSync();
  const index = openIndexForWriting(folder);
  const statements = new Statements(index);
  const given = { tenant: 0, name: "b", guid: "g", owner: null, ownerPermissions: 0, record: "{}", atMs: 0 };
  const writer = new Writer(folder, index);
  writer.commit([{ kind: "createBucket", input: { ...given, versioning: "off" } }]);
  return {
    statements,
    writer,
    versions: new Versions(statements),
    [Symbol.dispose]() {
      index.close();
      Deno.removeSync(folder, { recursive: true });
    },
  };
}

type Step = { key: string; kind: "put" | "delete" } | { versioning: Versioning };

function changeOf(step: Step): Change {
  if ("versioning" in step) return { kind: "setVersioning", input: { bucket: 1, versioning: step.versioning } };
  const key = utf8(step.key);
  if (step.kind === "delete") return { kind: "deleteObject", input: { bucket: 1, key, version: null, atMs: 1 } };
  const given = { bucket: 1, key, body: { data: utf8("x") }, size: 1, etag: "e", contentType: "t", atMs: 1 };
  const absent = { headers: null, checksums: null, tags: null, acl: null, owner: null, condition: null };
  return { kind: "putObject", input: { ...given, ...absent } };
}

const key = fc.constantFrom("a", "a/1", "a/1/x", "a/2", "a0", "b", "b/", "b//c", "\u00e5");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ key, kind: fc.constantFrom("put" as const, "delete" as const) }) },
  { weight: 1, arbitrary: fc.record({ versioning: fc.constantFrom("enabled" as const, "suspended" as const) }) },
);

Deno.test("versions: pages of any size list each version once, newest first, with prefixes in order", () => {
  const prefixes = fc.constantFrom("", "a", "a/", "b/", "c");
  const delimiters = fc.constantFrom("", "/", "/1", "a");
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40, size: "max" }),
      prefixes,
      delimiters,
      fc.integer({ min: 1, max: 5 }),
      (steps, prefix, delimiter, limit) => {
        using bucket = openBucket();
        bucket.writer.commit(steps.map(changeOf));
        const seen: string[] = [];
        let marker: { key: Uint8Array; version: string | null } | null = { key: utf8(""), version: null };
        while (marker) {
          const page = bucket.versions.list(1, {
            prefix: utf8(prefix),
            delimiter: utf8(delimiter),
            keyMarker: marker.key,
            versionMarker: marker.version,
            limit,
          });
          assert.ok(page.versions.length + page.prefixes.length <= limit);
          seen.push(
            ...page.versions.map((one) => `${textOf(one.key)} ${one.version} ${one.isMarker} ${one.isLatest}`),
            ...page.prefixes.map(textOf),
          );
          marker = page.next;
        }
        assert.deepEqual(seen.sort(), expected(bucket.statements, prefix, delimiter).sort());
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("versions: a listing goes on where it was when the client deleted the page it had", () => {
  using bucket = openBucket();
  const put = changeOf({ key: "k", kind: "put" });
  bucket.writer.commit([changeOf({ versioning: "enabled" }), put, put, put, put]);
  const asked = { prefix: utf8(""), delimiter: utf8(""), limit: 2 };
  const first = bucket.versions.list(1, { ...asked, keyMarker: utf8(""), versionMarker: null });
  assert.deepEqual(first.versions.map(({ isLatest }) => isLatest), [true, false]);
  bucket.writer.commit(first.versions.map(({ key, version }) => ({
    kind: "deleteObject",
    input: { bucket: 1, key, version, atMs: 1 },
  })));
  const rest = bucket.versions.list(1, {
    ...asked,
    keyMarker: first.next?.key ?? utf8(""),
    versionMarker: first.next?.version ?? null,
  });
  assert.deepEqual(rest.versions.map(({ isLatest }) => isLatest), [true, false]);
  assert.equal(rest.next, null);
});

/** What a listing without pages must show, from the rows themselves. */
function expected(statements: Statements, prefix: string, delimiter: string): string[] {
  const rows = statements.rows(
    `SELECT key, seq, is_null, 0, 1 FROM objects UNION ALL SELECT key, seq, is_null, is_marker, 0 FROM history`,
  ).map(([key, seq, isNull, isMarker]) => ({
    key: textOf(key as Uint8Array),
    seq: Number(seq),
    version: isNull === 1 ? "null" : String(seq),
    isMarker: isMarker === 1,
  }));
  rows.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || b.seq - a.seq);
  const shown = new Set<string>();
  rows.forEach((row, i) => {
    if (!row.key.startsWith(prefix)) return;
    const cut = delimiter === "" ? -1 : row.key.indexOf(delimiter, prefix.length);
    if (cut >= 0) return shown.add(row.key.slice(0, cut + delimiter.length));
    shown.add(`${row.key} ${row.version} ${row.isMarker} ${rows[i - 1]?.key !== row.key}`);
  });
  return [...shown];
}
