import assert from "node:assert/strict";
import { Reserve } from "@/embedded/store/disk_space.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Objects } from "@/embedded/store/stored_objects.ts";
import { deleteAll } from "@/embedded/store/s3/write_object.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";
import { startWriterThread, WriterClient } from "@/embedded/store/writer/writer_client.ts";
import {
  changesOf,
  createBucket,
  deleteObject,
  type deleteObjects,
  putObject,
  utf8,
  writtenStore,
} from "@/embedded/tests/store/changes_fixture.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

const BUCKET = 1;

Deno.test("store writer: where the disk is full a write is rejected as OutOfSpace, reads go on, and nothing is lost", () => {
  using store = writtenStore([createBucket(), putObject("kept", "first"), putObject("also kept", "second")]);
  const { index, objects, statements, writer } = store;

  // SQLite says the same, word for word, of a file that may not grow and of a disk that is full.
  index.exec("PRAGMA max_page_count = 1");
  const large = "x".repeat(16_384);
  const noSpace = { ok: false, error: "OutOfSpace" };
  assert.deepEqual(writer.commit([putObject("new", large), putObject("kept", large)]), [noSpace, noSpace]);
  assert.deepEqual(keys(objects), ["also kept", "kept"]);
  assert.equal(etagOf(objects, "kept"), "first");
  // A deletion is committed also in a group with a write that finds no room.
  const [removed, refused] = writer.commit([deleteObject("also kept"), putObject("new", large)]);
  assert.deepEqual([removed.ok, refused], [true, noSpace]);
  assert.deepEqual(keys(objects), ["kept"]);

  index.exec("PRAGMA max_page_count = 1000000");
  assert.ok(writer.commit([putObject("new", large)])[0].ok);
  assert.deepEqual(keys(objects), ["kept", "new"]);
  assert.deepEqual(statements.rows("PRAGMA integrity_check"), [["ok"]]);
});

/** A writer whose disk takes, or fails, as `disk` says, and whose clock is set by hand. */
function openWriter() {
  const folder = Deno.makeTempDirSync();
  const index = openIndexForWriting(folder);
  const disk = { fault: null as Error | null, takes: true, looks: 0, nowMs: 0, warnings: [] as string[] };
  class TestedReserve extends Reserve {
    override make(): boolean {
      if (this.isWhole) return true;
      disk.looks++;
      if (disk.fault) throw disk.fault;
      return disk.takes && super.make();
    }
    override hasBeside(bytes: number): boolean {
      if (disk.fault) throw disk.fault;
      return disk.takes && super.hasBeside(bytes);
    }
  }
  const reserve = new TestedReserve(folder, new Int32Array(1));
  const warn = (message: string) => disk.warnings.push(message);
  const writer = new Writer(folder, index, { reserve, warn, now: () => disk.nowMs });
  const stop = () => {
    index.close();
    Deno.removeSync(folder, { recursive: true });
  };
  return { disk, reserve, writer, [Symbol.dispose]: stop };
}

Deno.test("store writer: a disk that cannot be probed has no room, causes one warning, and ends nothing", () => {
  using open = openWriter();
  const { disk, reserve, writer } = open;
  assert.ok(
    writer.commit([createBucket(), putObject("kept", "first"), putObject("more", "second")]).every(({ ok }) => ok),
  );
  disk.fault = new Error("Too many open files (os error 24)");
  assert.equal(writer.hasRoom(10_000), false);
  assert.ok(writer.commit([putObject("new", "third")])[0].ok, "the reserve is whole: nothing is looked at");

  reserve.release();
  const fault = { ok: false, fault: disk.fault.message };
  const [refused, removed] = writer.commit([putObject("new", "fourth"), deleteObject("kept")]);
  assert.deepEqual([refused, removed.ok], [fault, true]);
  assert.equal(writer.hasRoom(), false);
  assert.equal(writer.hasRoom(10_000), false);
  assert.equal(disk.warnings.length, 1);
  assert.match(
    disk.warnings[0],
    /\/reserve cannot be written \(Too many open files.*\): writes may be refused, deletions go on$/,
  );
  disk.nowMs += 60_000;
  assert.equal(writer.hasRoom(10_000), false);
  assert.equal(disk.warnings.length, 2);

  disk.fault = null;
  assert.ok(writer.hasRoom(10_000));
  assert.ok(writer.commit([putObject("new", "fifth")])[0].ok);
});

Deno.test("store writer: while the reserve is released, writes probe for it once a second, or after a deletion", () => {
  using open = openWriter();
  const { disk, reserve, writer } = open;
  assert.ok(writer.commit([createBucket(), putObject("kept", "first")]).every(({ ok }) => ok));
  reserve.release();
  disk.takes = false;
  disk.looks = 0;
  const noSpace = { ok: false, error: "OutOfSpace" };
  for (let n = 0; n < 10; n++) assert.deepEqual(writer.commit([putObject("new", "second")]), [noSpace]);
  assert.equal(disk.looks, 1);
  disk.nowMs += 1000;
  assert.deepEqual(writer.commit([putObject("new", "second")]), [noSpace]);
  assert.equal(disk.looks, 2);

  disk.takes = true;
  assert.deepEqual(writer.commit([putObject("new", "second")]), [noSpace]);
  assert.ok(writer.commit([deleteObject("kept")])[0].ok);
  assert.ok(writer.commit([putObject("new", "second")])[0].ok, "a deletion was committed");

  reserve.release();
  disk.takes = false;
  assert.deepEqual(writer.commit([putObject("new", "third")]), [noSpace]);
  disk.takes = true;
  assert.ok(writer.hasRoom(10_000), "readiness looks each time");
  assert.ok(writer.commit([putObject("new", "third")])[0].ok);
});

Deno.test("store writer: where the log of many deletions finds no room, they are committed in smaller changes", async () => {
  const names = ["a", "b", "c", "d", "e"];
  using store = writtenStore([createBucket(), ...names.map((name) => putObject(name, name))]);
  const { index, objects, writer } = store;
  const exec = index.exec.bind(index);
  const sizes: number[] = [];
  const commit = writer.commit.bind(writer);
  writer.commit = (changes) => {
    const [{ input }] = changes as ReturnType<typeof deleteObjects>[];
    sizes.push(input.objects.length);
    index.exec = (sql: string) => {
      if (sql === "COMMIT" && input.objects.length > 2) throw new Error("database or disk is full");
      exec(sql);
    };
    return commit(changes);
  };
  const deletions = names.map((name) => ({ key: utf8(name), version: null, ifMatch: name === "b" ? "other" : null }));
  const outcomes = await deleteAll(changesOf(writer), BUCKET, deletions);
  index.exec = exec;
  assert.deepEqual(sizes, [5, 3, 2, 1, 2]);
  assert.deepEqual(outcomes.map((one) => one instanceof StoreError && one.code), [
    false,
    "PreconditionFailed",
    false,
    false,
    false,
  ]);
  assert.deepEqual(keys(objects), ["b"]);
});

testInFolder("store writer: it continues when the reserve is removed or replaced from outside", async (folder) => {
  const thread = startWriterThread((message) => assert.fail(message));
  const writer = await WriterClient.open(thread.port, folder, () => Promise.resolve());
  const write = (key: string) => {
    const { kind, input } = putObject(key, "text");
    return writer.change(kind, input);
  };
  await writer.change("createBucket", createBucket().input);
  Deno.removeSync(`${folder}/reserve`, { recursive: true });
  assert.equal(await writer.space.isFull(), false);
  assert.equal([...Deno.readDirSync(`${folder}/reserve`)].length, 3);
  await write("one");

  Deno.removeSync(`${folder}/reserve`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/reserve`, "no folder");
  assert.equal(await writer.space.isFull(), true);
  await writer.change("deleteObjects", deleteObject("one").input);

  Deno.removeSync(`${folder}/reserve`);
  assert.equal(await writer.space.isFull(), false);
  await write("two");
  await writer.close();
  thread.terminate();
});

function keys(objects: Objects): string[] {
  const none = new Uint8Array();
  return objects.list(BUCKET, { prefix: none, delimiter: none, from: none, limit: 10 }).objects.map(({ key }) => key);
}

function etagOf(objects: Objects, key: string): string | null {
  const found = objects.find(BUCKET, "off", utf8(key), null);
  return found && !("marker" in found) ? found.etag : null;
}
