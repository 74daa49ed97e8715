import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Change, Input } from "@/embedded/store/writer/reported_changes.ts";
import { sweepBodies } from "@/embedded/store/body_folder.ts";
import { deleteObject, writtenStore } from "@/embedded/tests/store/changes_fixture.ts";

const key = new TextEncoder().encode("k");
const name = { bucket: 1, key, upload: "u" };
const FULL_PART = 5 * 1024 * 1024;
const etagOf = (number: number) => createHash("md5").update(String(number)).digest("hex");

function openStore() {
  const record = JSON.stringify({ multipartUploadAutoAbortDays: 2 });
  return writtenStore([
    { kind: "createUser", input: { tenant: 0, name: "u", guid: "g", passwordMd5: "", record: "{}" } },
    {
      kind: "createBucket",
      input: { tenant: 0, name: "b", guid: "g", owner: 1, ownerPermissions: 1, versioning: "off", record, atMs: 0 },
    },
  ]);
}

const create = (upload = "u", atMs = 0): Change => ({
  kind: "createUpload",
  input: {
    ...name,
    upload,
    owner: 1,
    contentType: "text/plain",
    headers: null,
    tags: null,
    acl: null,
    checksumAlgorithm: null,
    checksumType: null,
    atMs,
  },
});

/** A part in an empty file that is said to be full: the writer never reads it. */
function part(folder: string, number: number): Change {
  Deno.mkdirSync(`${folder}/bodies/2026010100`, { recursive: true });
  const file = `bodies/2026010100/${number}`;
  Deno.writeTextFileSync(`${folder}/${file}`, "");
  return {
    kind: "putPart",
    input: { ...name, number, body: { file }, size: FULL_PART, etag: etagOf(number), checksums: null, atMs: 1 },
  };
}

const complete = (numbers: number[]): { kind: "completeUpload"; input: Input<"completeUpload"> } => ({
  kind: "completeUpload",
  input: {
    ...name,
    parts: numbers.map((number) => ({ number, etag: etagOf(number), checksums: {} })),
    checksums: {},
    size: null,
    by: 1,
    condition: null,
    atMs: 2,
  },
});

Deno.test("uploads: a rejected complete changes nothing, two in one group are one object", () => {
  using store = openStore();
  store.writer.commit([create(), part(store.folder, 1), part(store.folder, 2)]);
  const [missing, conditional, first, second] = store.writer.commit([
    complete([1, 3]),
    { kind: "completeUpload", input: { ...complete([1, 2]).input, condition: { etag: "other" } } },
    complete([1, 2]),
    complete([1, 2]),
  ]);
  assert.deepEqual(missing, { ok: false, error: "InvalidPart" });
  assert.deepEqual(conditional, { ok: false, error: "NoSuchKey" });
  assert.ok(first.ok);
  assert.deepEqual(second, { ok: true, result: { ...first.result, written: null }, reports: [] });
  assert.equal(store.statements.row("SELECT stored_count FROM buckets WHERE id = 1")?.[0], 1);
  assert.equal(store.statements.row("SELECT stored_bytes FROM buckets WHERE id = 1")?.[0], 2 * FULL_PART);
  assert.equal(store.statements.row("SELECT count(*) FROM parts")?.[0], 0);
});

Deno.test("uploads: a thousand parts of a deleted object are removed group by group, and no sweep takes those in use", () => {
  using store = openStore();
  const numbers = Array.from({ length: 1000 }, (_, i) => i + 1);
  store.writer.commit([create(), ...numbers.map((number) => part(store.folder, number))]);
  const files = () => [...Deno.readDirSync(`${store.folder}/bodies/2026010100`)].length;
  sweepBodies(store.folder, store.index, new Date(0));
  assert.equal(files(), 1000);
  assert.ok(store.writer.commit([complete(numbers)])[0].ok);
  sweepBodies(store.folder, store.index, new Date(0));
  assert.equal(files(), 1000);
  store.writer.commit([deleteObject("k", { atMs: 3 })]);
  let groups = 0;
  for (; store.writer.hasGarbage; groups++) store.writer.commit([]);
  assert.ok(groups > 0);
  assert.equal(files(), 0);
  assert.equal(store.statements.row("SELECT count(*) FROM part_bodies")?.[0], 0);
});

Deno.test("uploads: an object in parts has no owner when the user who started it was deleted", () => {
  using store = openStore();
  store.writer.commit([
    { kind: "createUser", input: { tenant: 0, name: "v", guid: "h", passwordMd5: "", record: "{}" } },
    create(),
    part(store.folder, 1),
    { kind: "deleteUser", input: { user: 1 } },
  ]);
  const [gone, done] = store.writer.commit([
    complete([1]),
    { kind: "completeUpload", input: { ...complete([1]).input, by: 2 } },
  ]);
  assert.deepEqual(gone, { ok: false, error: "AccessDenied" });
  assert.ok(done.ok);
  assert.deepEqual(store.statements.row("SELECT owner FROM objects"), [null]);
});
