import fc from "fast-check";
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { sweepBodies } from "@/embedded/store/body_folder.ts";
import type { Versioning } from "@/embedded/store/changes.ts";
import { INDEX_VERSION, openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { compareBytes, successor } from "@/embedded/store/stored_objects.ts";
import type { Change } from "@/embedded/store/writer/reported_changes.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";
import {
  createBucket,
  deletedOf,
  deleteObject,
  NO_RESERVE,
  putObject,
  utf8,
  writtenStore,
} from "@/embedded/tests/store/changes_fixture.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

const openStore = (versioning: Versioning) => writtenStore([createBucket({ versioning })]);

Deno.test("writer: a rejected change leaves the others of its group alone", () => {
  using store = openStore("off");
  const refused = putObject("a", "second");
  refused.input.condition = { absent: true };
  const outcomes = store.writer.commit([putObject("a", "first"), refused, putObject("b", "other")]);
  assert.deepEqual(outcomes.map((outcome) => outcome.ok), [true, false, true]);
  const found = store.objects.find(1, "off", utf8("a"), null);
  assert.ok(found && !("marker" in found) && found.etag === "first");
});

Deno.test("writer: versions match a plain list after any changes in any order", () => {
  const step = fc.oneof(
    fc.record({ put: fc.string({ minLength: 1, maxLength: 5 }) }),
    fc.constant({ hide: true }),
    fc.record({ forget: fc.nat(10) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      using store = openStore("enabled");
      const model: { version: string; text: string | null }[] = [];
      for (const one of steps) {
        if ("put" in one) {
          const [outcome] = store.writer.commit([putObject("k", one.put)]);
          assert.ok(outcome.ok && outcome.result && "version" in outcome.result);
          model.push({ version: String(outcome.result.version), text: one.put });
        } else if ("hide" in one) {
          const { isMarker, version } = deletedOf(store.writer.commit([deleteObject("k")])[0]);
          assert.equal(isMarker, true);
          model.push({ version: String(version), text: null });
        } else if (model.length > 0) {
          const [gone] = model.splice(one.forget % model.length, 1);
          deletedOf(store.writer.commit([deleteObject("k", { version: gone.version })])[0]);
        }
        const newest = model.at(-1);
        const found = store.objects.find(1, "enabled", utf8("k"), null);
        const shown = !found ? undefined : "marker" in found ? null : found.etag;
        assert.equal(shown, newest?.text);
        for (const { version, text } of model) {
          const old = store.objects.find(1, "enabled", utf8("k"), version);
          assert.equal(old && ("marker" in old ? null : old.etag), text);
        }
        const stored = store.statements.row("SELECT stored_count FROM buckets WHERE id = 1")?.[0];
        assert.equal(stored, model.filter(({ text }) => text !== null).length);
        assert.equal(store.statements.row("SELECT count(*) FROM bodies")?.[0], stored);
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("listing: successor is the first text behind all that share a prefix", () => {
  assert.deepEqual(successor(new Uint8Array([1, 255, 255])), new Uint8Array([2]));
  assert.equal(successor(new Uint8Array([255, 255])), null);
  fc.assert(fc.property(fc.uint8Array({ minLength: 1 }), fc.uint8Array(), (prefix, rest) => {
    const behind = successor(prefix);
    if (behind) assert.ok(compareBytes(new Uint8Array([...prefix, ...rest]), behind) < 0);
  }));
});

Deno.test("sweep: a start removes files that no row names and keeps the others", () => {
  using store = openStore("off");
  const hour = `${store.folder}/bodies/2026010101`;
  Deno.mkdirSync(hour, { recursive: true });
  Deno.writeTextFileSync(`${hour}/kept`, "kept");
  Deno.writeTextFileSync(`${hour}/orphan`, "orphan");
  const change = putObject("k", "kept");
  change.input.body = { file: "bodies/2026010101/kept" };
  assert.ok(store.writer.commit([change])[0].ok);
  store.index.exec("UPDATE swept SET through = '2026010100'");
  sweepBodies(store.folder, store.index);
  assert.deepEqual([...Deno.readDirSync(hour)].map(({ name }) => name), ["kept"]);
  // An overwrite gives the file up at once.
  assert.ok(store.writer.commit([putObject("k", "small")])[0].ok);
  assert.deepEqual([...Deno.readDirSync(hour)], []);
});

Deno.test("writer: a body whose file is gone is a fault, not an object", () => {
  using store = openStore("off");
  const change = putObject("k", "x");
  change.input.body = { file: "bodies/2026010101/missing" };
  const [outcome] = store.writer.commit([change]);
  assert.equal(outcome.ok, false);
  assert.equal(store.objects.find(1, "off", utf8("k"), null), null);
});

Deno.test("objects: one whose bytes the index has lost is no shorter object", async () => {
  using store = openStore("off");
  assert.ok(store.writer.commit([putObject("k", "bytes"), putObject("empty", "")]).every(({ ok }) => ok));
  const find = (key: string) => {
    const object = store.objects.find(1, "off", utf8(key), null);
    assert.ok(object && "read" in object);
    return object;
  };
  assert.equal((await find("empty").read(0, -1) as Uint8Array).length, 0);
  store.index.exec("DELETE FROM bodies");
  await assert.rejects(async () => await find("k").read(0, 4), Deno.errors.NotFound);
});

Deno.test("writer: a tenant is created with its first user and its first group, or not at all", () => {
  using store = openStore("off");
  const tenant = (name: string): Change => ({
    kind: "createTenant",
    input: {
      name,
      record: "{}",
      firstUser: { name: "boss", guid: `boss of ${name}`, passwordMd5: "", record: "{}" },
      // Two groups cannot have one GUID: the second one cannot be made.
      firstGroup: { name: "guards", guid: "the same", record: "{}" },
      atMs: 1,
    },
  });
  assert.deepEqual(store.writer.commit([tenant("first"), tenant("second")]).map(({ ok }) => ok), [true, false]);
  const held = (table: string) => store.statements.rows(`SELECT name FROM ${table}`).map(([name]) => name);
  assert.deepEqual([held("tenants"), held("users"), held("groups")], [["first"], ["boss"], ["guards"]]);
});

Deno.test("writer: a number is never reused, and nothing is created in a deleted tenant", () => {
  using store = openStore("off");
  const tenant = (name: string): Change => ({
    kind: "createTenant",
    input: { name, record: "{}", firstUser: null, atMs: 1 },
  });
  const user = (name: string, tenant: number): Change => ({
    kind: "createUser",
    input: { tenant, name, guid: name, passwordMd5: "", record: "{}" },
  });
  const outcomes = store.writer.commit([
    tenant("old"),
    user("alice", 1),
    { kind: "deleteTenant", input: { tenant: 1 } },
    user("mole", 1),
    tenant("new"),
    user("bob", 2),
  ]);
  assert.deepEqual(outcomes.map((outcome) => outcome.ok ? outcome.result : "error" in outcome && outcome.error), [
    { id: 1 },
    { id: 1 },
    undefined,
    "NotFound",
    { id: 2 },
    { id: 2 },
  ]);
});

testInFolder("index: a folder of the first release keeps its content, other versions are rejected", (folder) => {
  const open = (change: string) => {
    const index = openIndexForWriting(folder);
    index.exec(change);
    index.close();
  };
  open("CREATE TABLE audit (id INTEGER PRIMARY KEY); INSERT INTO audit VALUES (7); PRAGMA user_version = 6");
  const index = openIndexForWriting(folder);
  assert.ok(new Writer(folder, index, { reserve: NO_RESERVE, warn: () => {} }).commit([createBucket()])[0].ok);
  const statements = new Statements(index);
  assert.deepEqual(statements.rows("SELECT id FROM audit"), [[7]]);
  assert.deepEqual(statements.row("PRAGMA user_version"), [INDEX_VERSION]);
  index.close();
  open(`PRAGMA user_version = ${INDEX_VERSION + 1}`);
  assert.throws(() => openIndexForWriting(folder), /by a newer version/);
  const other = new DatabaseSync(`${folder}/index.db`);
  other.exec("PRAGMA user_version = 5");
  assert.throws(() => openIndexForWriting(folder), /before its first release/);
  other.close();
});
