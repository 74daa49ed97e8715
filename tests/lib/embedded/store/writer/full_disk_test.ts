import assert from "node:assert/strict";
import { openIndexForWriting, Statements } from "@/lib/embedded/store/index.ts";
import { Objects } from "@/lib/embedded/store/objects.ts";
import type { Change } from "@/lib/embedded/store/writer/changes.ts";
import { Reserve } from "@/lib/embedded/store/writer/reserve.ts";
import { Writer } from "@/lib/embedded/store/writer/writer.ts";
import { startWriterThread, WriterClient } from "@/lib/embedded/store/writer/writer_client.ts";

const BUCKET = 1;

Deno.test("store writer: where the disk is full a write is refused as NoSpace, reads go on, and nothing is lost", () => {
  const folder = Deno.makeTempDirSync();
  const index = openIndexForWriting(folder);
  try {
    const writer = new Writer(folder, index);
    const objects = new Objects(folder, new Statements(index));
    const made = writer.commit([bucket(), put("kept", "first"), put("also kept", "second")]);
    assert.ok(made.every(({ ok }) => ok));

    // SQLite says the same, word for word, of a file that may not grow and of a disk that is full.
    index.exec("PRAGMA max_page_count = 1");
    const large = "x".repeat(16_384);
    const noSpace = { ok: false, refusal: "NoSpace" };
    assert.deepEqual(writer.commit([put("new", large), put("kept", large)]), [noSpace, noSpace]);
    assert.deepEqual(keys(objects), ["also kept", "kept"]);
    assert.equal(etagOf(objects, "kept"), "first");
    // What makes room is let through, also beside what finds none.
    const [removed, refused] = writer.commit([remove("also kept"), put("new", large)]);
    assert.deepEqual([removed.ok, refused], [true, noSpace]);
    assert.deepEqual(keys(objects), ["kept"]);

    index.exec("PRAGMA max_page_count = 1000000");
    assert.ok(writer.commit([put("new", large)])[0].ok);
    assert.deepEqual(keys(objects), ["kept", "new"]);
    assert.deepEqual(new Statements(index).rows("PRAGMA integrity_check"), [["ok"]]);
  } finally {
    index.close();
    Deno.removeSync(folder, { recursive: true });
  }
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
  const writer = new Writer(folder, index, reserve, warn, () => disk.nowMs);
  const stop = () => {
    index.close();
    Deno.removeSync(folder, { recursive: true });
  };
  return { disk, reserve, writer, [Symbol.dispose]: stop };
}

Deno.test("store writer: a disk that cannot be looked at has no room, is told of once, and ends nothing", () => {
  using open = openWriter();
  const { disk, reserve, writer } = open;
  assert.ok(writer.commit([bucket(), put("kept", "first"), put("more", "second")]).every(({ ok }) => ok));
  disk.fault = new Error("Too many open files (os error 24)");
  assert.equal(writer.hasRoom(10_000), false);
  assert.ok(writer.commit([put("new", "third")])[0].ok, "the reserve is whole: nothing is looked at");

  reserve.release();
  const fault = { ok: false, fault: disk.fault.message };
  const [refused, removed] = writer.commit([put("new", "fourth"), remove("kept")]);
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
  assert.ok(writer.commit([put("new", "fifth")])[0].ok);
});

Deno.test("store writer: while the reserve is out, writes look for it once a second, or after a deletion", () => {
  using open = openWriter();
  const { disk, reserve, writer } = open;
  assert.ok(writer.commit([bucket(), put("kept", "first")]).every(({ ok }) => ok));
  reserve.release();
  disk.takes = false;
  disk.looks = 0;
  const noSpace = { ok: false, refusal: "NoSpace" };
  for (let n = 0; n < 10; n++) assert.deepEqual(writer.commit([put("new", "second")]), [noSpace]);
  assert.equal(disk.looks, 1);
  disk.nowMs += 1000;
  assert.deepEqual(writer.commit([put("new", "second")]), [noSpace]);
  assert.equal(disk.looks, 2);

  disk.takes = true;
  assert.deepEqual(writer.commit([put("new", "second")]), [noSpace]);
  assert.ok(writer.commit([remove("kept")])[0].ok);
  assert.ok(writer.commit([put("new", "second")])[0].ok, "a deletion was committed");

  reserve.release();
  disk.takes = false;
  assert.deepEqual(writer.commit([put("new", "third")]), [noSpace]);
  disk.takes = true;
  assert.ok(writer.hasRoom(10_000), "readiness looks each time");
  assert.ok(writer.commit([put("new", "third")])[0].ok);
});

Deno.test("store writer: its thread goes on where somebody removes the reserve, or puts something else there", async () => {
  const folder = Deno.makeTempDirSync();
  const thread = startWriterThread((message) => assert.fail(message));
  const writer = await WriterClient.open(thread.port, folder);
  const write = (key: string) => {
    const { given } = put(key, "text") as Extract<Change, { kind: "putObject" }>;
    return writer.change("putObject", given);
  };
  const made = bucket() as Extract<Change, { kind: "createBucket" }>;
  await writer.change("createBucket", made.given);
  Deno.removeSync(`${folder}/reserve`, { recursive: true });
  assert.equal(await writer.space.isFull(), false);
  assert.equal([...Deno.readDirSync(`${folder}/reserve`)].length, 3);
  await write("one");

  Deno.removeSync(`${folder}/reserve`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/reserve`, "no folder");
  assert.equal(await writer.space.isFull(), true);
  const { given } = remove("one") as Extract<Change, { kind: "deleteObject" }>;
  await writer.change("deleteObject", given);

  Deno.removeSync(`${folder}/reserve`);
  assert.equal(await writer.space.isFull(), false);
  await write("two");
  await writer.close();
  thread.terminate();
  Deno.removeSync(folder, { recursive: true });
});

function bucket(): Change {
  return {
    kind: "createBucket",
    given: {
      tenant: 0,
      name: "b",
      guid: "g",
      owner: null,
      ownerPermissions: 0,
      versioning: "off",
      record: "{}",
      atMs: 1,
    },
  };
}

function put(key: string, text: string): Change {
  const data = new TextEncoder().encode(text);
  return {
    kind: "putObject",
    given: {
      bucket: BUCKET,
      key: new TextEncoder().encode(key),
      body: { data },
      size: data.length,
      etag: text,
      contentType: "text/plain",
      headers: null,
      checksums: null,
      tags: null,
      acl: null,
      owner: null,
      condition: null,
      atMs: 1,
    },
  };
}

function remove(key: string): Change {
  return {
    kind: "deleteObject",
    given: { bucket: BUCKET, key: new TextEncoder().encode(key), version: null, atMs: 2 },
  };
}

function keys(objects: Objects): string[] {
  const none = new Uint8Array();
  return objects.list(BUCKET, none, none, none, 10).objects.map(({ key }) => new TextDecoder().decode(key));
}

function etagOf(objects: Objects, key: string): string | null {
  const found = objects.find(BUCKET, "off", new TextEncoder().encode(key), null);
  return found && !("marker" in found) ? found.etag : null;
}
