import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Versioning } from "@/embedded/store/changes.ts";
import {
  afterMarker,
  type EntriesPage,
  type ListedVersion,
  listVersions,
  type Upload,
  Uploads,
} from "@/embedded/store/entry_pages.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { compareBytes, indexOfBytes, Objects } from "@/embedded/store/stored_objects.ts";
import type { Change } from "@/embedded/store/writer/reported_changes.ts";
import { createBucket, deletedOf, utf8, writtenStore } from "./changes_fixture.ts";

const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const compare = (a: string, b: string) => compareBytes(utf8(a), utf8(b));

/** A bucket of its own for each run, all in one index. */
function openIndex() {
  const store = writtenStore([]);
  let buckets = 0;
  return {
    ...store,
    uploads: new Uploads(store.statements),
    newBucket() {
      const name = `b${++buckets}`;
      store.writer.commit([createBucket({ name, guid: name })]);
      return buckets;
    },
  };
}

/** A version as a plain list would hold it. */
interface Entry {
  key: string;
  version: string;
  isMarker: boolean;
}

interface Step {
  key: string;
  kind: "put" | "delete" | "deleteVersion" | "enable" | "suspend";
  /** Which of the versions that there are. */
  which: number;
}

/**
 * Does steps to a bucket and to a plain list of its versions, the newest of each key first. Version ids are taken from the
 * store, since they are its own to choose.
 */
function apply(store: ReturnType<typeof openIndex>, bucket: number, steps: readonly Step[]): Entry[] {
  const list: Entry[] = [];
  let versioning = "off";
  const commit = (change: Change) => {
    const [outcome] = store.writer.commit([change]);
    assert.ok(outcome.ok, JSON.stringify(outcome));
    return outcome.result as { version: string | null };
  };
  const remove = (bucket: number, key: string, version: string | null) => {
    const objects = [{ key: utf8(key), version }];
    return deletedOf(store.writer.commit([{ kind: "deleteObjects", input: { bucket, objects, atMs: 1 } }])[0]);
  };
  const add = (key: string, version: string | null, isMarker: boolean) => {
    const name = version ?? "null";
    const same = list.findIndex((one) => one.key === key && one.version === name);
    if (same >= 0) list.splice(same, 1);
    list.unshift({ key, version: name, isMarker });
  };
  for (const [i, { key, kind, which }] of steps.entries()) {
    const at = { bucket, key: utf8(key), atMs: i };
    if (kind === "enable" || kind === "suspend") {
      versioning = kind === "enable" ? "enabled" : "suspended";
      commit(versioningOf(bucket, kind === "enable" ? "enabled" : "suspended"));
    } else if (kind === "put") {
      const absent = { headers: null, checksums: null, tags: null, acl: null, owner: null, condition: null };
      const body = { body: { data: utf8("x") }, size: 1, etag: "e", contentType: "t" };
      add(key, commit({ kind: "putObject", input: { ...at, ...body, ...absent } }).version, false);
    } else if (kind === "delete") {
      const { version } = remove(bucket, key, null);
      if (versioning !== "off") add(key, version, true);
      else list.splice(0, list.length, ...list.filter((one) => one.key !== key));
    } else if (list.length > 0) {
      const [gone] = list.splice(which % list.length, 1);
      remove(bucket, gone.key, gone.version);
    }
  }
  // A stable sort keeps the versions of a key in their order.
  return list.sort((a, b) => compare(a.key, b.key));
}

function versioningOf(bucket: number, versioning: Versioning): Change {
  return { kind: "setVersionSettings", input: { bucket, versioning, settings: {} } };
}

function common(key: string, prefix: string, delimiter: string): string | null {
  const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
  return cut < 0 ? null : key.slice(0, cut + delimiter.length);
}

/** The entries of a listing: what `name` calls those of a key, and common prefixes, once each. */
function entries<T extends { key: string }>(
  all: readonly T[],
  prefix: string,
  delimiter: string,
  name: (one: T) => string,
): { at: string; shown: string }[] {
  const found = new Map<string, { at: string; shown: string }>();
  for (const one of all) {
    if (!one.key.startsWith(prefix)) continue;
    const at = common(one.key, prefix, delimiter);
    const shown = at === null ? `${one.key} ${name(one)}` : `${at} *`;
    found.set(shown, { at: at ?? one.key, shown });
  }
  return [...found.values()];
}

const keys = fc.constantFrom(
  "a",
  "a/",
  "a/1",
  "a/1/x",
  "a/2",
  "a//",
  "a0",
  "b",
  "b/\u{1F600}",
  "b/\uffee",
  "\0",
  "\ufeffa",
  "\u{1F600}/",
);
const kinds = fc.constantFrom("put", "put", "put", "delete", "deleteVersion", "enable", "suspend");
const steps = fc.array(
  fc.record({ key: keys, kind: kinds, which: fc.nat(50) }) as fc.Arbitrary<Step>,
  { maxLength: 40, size: "max" },
);
const asked = {
  prefix: fc.constantFrom("", "", "a", "a/", "b/", "\ufeff", "z"),
  delimiter: fc.constantFrom("", "/", "/", "//", "/1", "\u{1F600}"),
  marker: fc.oneof(fc.constant(""), keys, fc.constantFrom("A", "a/0", "a/1/", "a/9", "a/1/y", "b/", "\uffff", "zz")),
  limit: fc.integer({ min: 1, max: 6 }),
};

Deno.test("listings: from any marker on, pages of objects and versions match a plain list", () => {
  using store = openIndex();
  fc.assert(
    fc.property(fc.record({ steps, ...asked }), fc.nat(20), ({ steps, prefix, delimiter, marker, limit }, pick) => {
      const bucket = store.newBucket();
      const list = apply(store, bucket, steps);
      const newest = new Set(list.filter((one, i) => list[i - 1]?.key !== one.key));
      const [under, cut] = [utf8(prefix), utf8(delimiter)];

      const objects: string[] = [];
      let from = afterMarker(utf8(marker), under, cut);
      while (from) {
        const page = store.objects.list(bucket, { prefix: under, delimiter: cut, from, limit });
        const shown = [...page.objects.map(({ key }) => `${key} `), ...page.prefixes.map((p) => `${text(p)} *`)];
        assert.ok(shown.length <= limit && (page.next === null || shown.length === limit));
        objects.push(...shown.sort((a, b) => compare(a.slice(0, -1), b.slice(0, -1))));
        from = page.next;
      }
      const current = list.filter((one) => newest.has(one) && !one.isMarker);
      const behind = entries(current, prefix, delimiter, () => "").filter(({ at }) => compare(at, marker) > 0);
      assert.deepEqual(objects, behind.map(({ shown }) => shown));

      // Any version of the marker's key may be the one that the listing goes on behind.
      const own = list.filter((one) => one.key === marker);
      const version = own.length > 0 && pick % 2 === 1 ? own[pick % own.length].version : null;
      const versions: string[] = [];
      let next: { key: Uint8Array; entry: { version: string } | null } | null = {
        key: utf8(marker),
        entry: version === null ? null : { version },
      };
      while (next) {
        const at = { keyMarker: next.key, versionMarker: next.entry?.version ?? null };
        const page: EntriesPage<ListedVersion> = listVersions(store.statements, bucket, {
          prefix: under,
          delimiter: cut,
          ...at,
          limit,
        });
        const shown = page.entries.map((one) => ({
          at: text(one.key),
          shown: `${text(one.key)} ${one.version} ${one.isMarker === 1} ${one.isLatest === 1}`,
        }));
        const both = [...shown, ...page.prefixes.map((p) => ({ at: text(p), shown: `${text(p)} *` }))];
        assert.ok(both.length <= limit && (page.next === null || both.length === limit));
        versions.push(...both.sort((a, b) => compare(a.at, b.at)).map((one) => one.shown));
        next = page.next;
      }
      const rest = version === null ? [] : own.slice(own.findIndex((one) => one.version === version) + 1);
      const name = (one: Entry) => `${one.version} ${one.isMarker} ${newest.has(one)}`;
      const inKey = new Set(rest.map((one) => `${one.key} ${name(one)}`));
      const expected = entries(list, prefix, delimiter, name)
        .filter(({ at, shown }) => compare(at, marker) > 0 || inKey.has(shown));
      assert.deepEqual(versions, expected.map(({ shown }) => shown));
    }),
    { numRuns: 150 },
  );
});

Deno.test("listings: from any marker on, pages of uploads match a plain list", () => {
  using store = openIndex();
  const insert = store.index.prepare(
    "INSERT INTO uploads (id, bucket, key, content_type, started_ms) VALUES (?, ?, ?, '', 0)",
  );
  fc.assert(
    fc.property(
      fc.record({ named: fc.array(keys, { maxLength: 25 }), ...asked }),
      fc.nat(30),
      ({ named, prefix, delimiter, marker, limit }, pick) => {
        const bucket = store.newBucket();
        const list = named.map((key, i) => ({ key, id: `${bucket}-${String(i).padStart(3, "0")}` }));
        for (const { key, id } of list) insert.run(id, bucket, utf8(key));
        list.sort((a, b) => compare(a.key, b.key) || compare(a.id, b.id));
        const upload = pick % 2 === 0 || marker === "" ? "" : `${bucket}-${String(pick).padStart(3, "0")}`;
        const seen: string[] = [];
        let after: { key: Uint8Array; entry: { id: string } | null } | null = {
          key: utf8(marker),
          entry: upload === "" ? null : { id: upload },
        };
        const query = { prefix: utf8(prefix), delimiter: utf8(delimiter), limit };
        while (after) {
          const at = { keyMarker: after.key, uploadMarker: after.entry?.id ?? "" };
          const page: EntriesPage<Upload> = store.uploads.list(bucket, { ...query, ...at });
          const both = [
            ...page.entries.map((one) => ({ at: text(one.key), shown: `${text(one.key)} ${one.id}` })),
            ...page.prefixes.map((p) => ({ at: text(p), shown: `${text(p)} *` })),
          ];
          assert.ok(both.length <= limit && (page.next === null || both.length === limit));
          seen.push(...both.sort((a, b) => compare(a.at, b.at)).map(({ shown }) => shown));
          after = page.next;
        }
        const expected = entries(list, prefix, delimiter, ({ id }) => id).filter(({ at, shown }) =>
          compare(at, marker) > 0 ||
          (upload !== "" && at === marker && shown > `${marker} ${upload}` && !shown.endsWith("*"))
        );
        assert.deepEqual(seen, expected.map(({ shown }) => shown));
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("listings: versions continue at the marker after the client deleted the page before", () => {
  using store = openIndex();
  const bucket = store.newBucket();
  const put: Step = { key: "k", kind: "put", which: 0 };
  apply(store, bucket, [{ ...put, kind: "enable" }, put, put, put, put]);
  const asked = { prefix: utf8(""), delimiter: utf8(""), limit: 2 };
  const first = listVersions(store.statements, bucket, { ...asked, keyMarker: utf8(""), versionMarker: null });
  for (const { key, version } of first.entries) {
    store.writer.commit([{ kind: "deleteObjects", input: { bucket, objects: [{ key, version }], atMs: 1 } }]);
  }
  const { key, entry } = first.next ?? assert.fail("there are more");
  const at = { keyMarker: key, versionMarker: entry?.version ?? null };
  const rest = listVersions(store.statements, bucket, { ...asked, ...at });
  assert.deepEqual(rest.entries.map(({ isLatest }) => isLatest), [1, 0]);
  assert.equal(rest.next, null);
});

Deno.test("listings: a page leaves no read open that would block the checkpoint of the log", () => {
  using store = openIndex();
  const bucket = store.newBucket();
  const put = (key: string): Step => ({ key, kind: "put", which: 0 });
  apply(store, bucket, [put("a"), put("b"), put("c")]);
  const reader = new Statements(store.index);
  const none = new Uint8Array();
  assert.ok(new Objects("", reader).list(bucket, { prefix: none, delimiter: none, from: none, limit: 1 }).next);
  const all = { prefix: none, delimiter: none, keyMarker: none, versionMarker: null, limit: 1 };
  assert.ok(listVersions(reader, bucket, all).next);
  assert.deepEqual(reader.row("PRAGMA wal_checkpoint(TRUNCATE)"), [0, 0, 0]);
});

Deno.test("listings: a delimiter of any length is found at its position", () => {
  const bytes = (maxLength: number) =>
    fc.array(fc.constantFrom(0, 97, 200), { maxLength }).map((all) => Uint8Array.from(all));
  fc.assert(fc.property(bytes(60), bytes(30), fc.nat(70), fc.nat(60), (whole, other, from, at) => {
    for (const wanted of [other, whole.slice(at, at + 20)]) {
      if (wanted.length > 0) assert.equal(indexOfBytes(whole, wanted, from), Buffer.from(whole).indexOf(wanted, from));
    }
  }));
});

Deno.test("writer: the id of a version that was deleted is not used for the next one", () => {
  using store = openIndex();
  const bucket = store.newBucket();
  const at = { bucket, key: utf8("k"), atMs: 5 };
  const absent = { headers: null, checksums: null, tags: null, acl: null, owner: null, condition: null };
  const body = { body: { data: utf8("x") }, size: 1, etag: "e", contentType: "t" };
  const put: Change = { kind: "putObject", input: { ...at, ...body, ...absent } };
  const done = (change: Change) => {
    const [outcome] = store.writer.commit([change]);
    assert.ok(outcome.ok);
    return outcome.result as { version: string };
  };
  done(versioningOf(bucket, "enabled"));
  const { version } = done(put);
  done({ kind: "deleteObjects", input: { bucket, objects: [{ key: at.key, version }], atMs: 5 } });
  assert.notEqual(done(put).version, version);
});
