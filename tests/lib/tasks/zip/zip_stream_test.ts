import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { FairSlots } from "@/lib/std/fair_slots.ts";
import type { TaskStore } from "@/lib/tasks/task_store.ts";
import type { ObjectSource } from "@/lib/tasks/zip/entry_read.ts";
import { OpenArchives, type ReadyTask, type ZipArchive } from "@/lib/tasks/zip/zip_archive.ts";
import { CHECKPOINT_BYTES } from "@/lib/tasks/zip/zip_journal.ts";
import { ArchiveChanged, completeBefore, ZipStream } from "@/lib/tasks/zip/zip_stream.ts";
import { cutShort, etagOf, type ObjectServer, plannedTask, s3Error, startObjectServer } from "./object_server.ts";
import { readForward, readStrictly, unzipped } from "./strict_zip.ts";

const MIB = 1024 * 1024;

/** Bytes that differ from offset to offset. */
function pattern(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 31 + (at >> 8) * 17 + seed) & 0xff;
  return bytes;
}

const OBJECTS: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = new Map([
  ["år/brev.txt", pattern(1000, 1)],
  ["år/tom.txt", pattern(0, 0)],
  ["år/", pattern(0, 0)],
  ["../utanför", pattern(300, 2)],
  ["stor.bin", pattern(3 * MIB + 7, 3)],
  ["AR", pattern(70_000, 4)],
  ["ar", pattern(5, 5)],
]);

const NAMES = ["år/brev.txt", "år/tom.txt", "år/", "__/utanför", "stor.bin", "AR", "ar (2)"];

interface Under {
  readonly server: ObjectServer;
  readonly store: TaskStore;
  readonly task: ReadyTask;
}

async function withArchive(
  run: (under: Under) => Promise<void>,
  objects: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = OBJECTS,
  absent: readonly string[] = [],
): Promise<void> {
  await using server = startObjectServer();
  for (const [key, bytes] of objects) server.objects.set(key, bytes);
  const { store, task } = await plannedTask(objects, absent);
  try {
    await run({ server, store, task });
  } finally {
    await store.close();
  }
}

/** Opens the archive as a process does that knows nothing of it. */
async function opened({ store, task }: Under): Promise<ZipArchive> {
  const opened = await new OpenArchives(store).open(task);
  assert.ok(opened);
  return opened.archive;
}

/** The bytes of an archive from an offset on, as far as `enough` says. */
async function readFrom(
  archive: ZipArchive,
  { server }: Under,
  first = 0,
  { last = null, enough = Infinity }: { last?: number | null; enough?: number } = {},
): Promise<Uint8Array> {
  const stream = new ZipStream(archive, server.source, { first, last }, false);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (let chunk; length < enough && (chunk = await stream.read());) {
      chunks.push(chunk);
      length += chunk.length;
    }
  } finally {
    stream.cancel();
    await archive.journal.save();
  }
  return Buffer.concat(chunks);
}

Deno.test("zip stream: an archive has all objects under safe names, and the length that was computed before", async () => {
  await withArchive(async (under) => {
    const archive = await opened(under);
    const { totalBytes } = archive.layout();
    const bytes = await readFrom(archive, under);
    assert.equal(bytes.length, totalBytes);
    const found = unzipped(bytes);
    assert.deepEqual([...found.keys()], NAMES);
    for (const [at, data] of [...OBJECTS.values()].entries()) assert.deepEqual(found.get(NAMES[at]), Buffer.from(data));
    assert.deepEqual([...readForward(bytes).keys()], NAMES);
    assert.equal(archive.failed, 0);
  });
});

Deno.test("zip stream: from any offset on, another process sends the same bytes", async () => {
  await withArchive(async (under) => {
    const archive = await opened(under);
    const whole = await readFrom(archive, under);
    const entries = readStrictly(whole);
    const offsets = new Set([1, whole.length - 1, whole.length - 22, whole.length - 23, whole.length / 2 | 0]);
    for (const { offset, dataOffset, size } of entries) {
      for (
        const at of [offset, offset + 5, dataOffset, dataOffset + (size >> 1), dataOffset + size, dataOffset + size + 3]
      ) {
        offsets.add(at);
      }
    }
    for (const offset of offsets) {
      const other = await opened(under);
      assert.equal(other.etag, archive.etag);
      assert.deepEqual(await readFrom(other, under, offset), whole.subarray(offset), `from ${offset}`);
    }
    const middle = await readFrom(await opened(under), under, 500, { last: 1499 });
    assert.deepEqual(middle, whole.subarray(500, 1500));
  });
});

Deno.test("zip stream: what a process sent is continued by another one, also where CRCs were not stored", async () => {
  await withArchive(async (under) => {
    const whole = await readFrom(await opened(under), { ...under });
    for (const isStored of [true, false]) {
      const { store, task } = await plannedTask(OBJECTS);
      const fresh = { ...under, store, task };
      const first = await opened(fresh);
      const begun = await readFrom(first, fresh, 0, { enough: 2 * MIB });
      // A process that was killed stored nothing.
      if (!isStored) await store.writeBlobs(task.id, new Map([["sent/0/0", new Uint8Array(0)]]));
      const second = await opened(fresh);
      const { entry } = second.locate(begun.length);
      assert.equal(entry, 4);
      assert.equal(await completeBefore(second, under.server.source, entry, new AbortController().signal), true);
      const rest = await readFrom(second, fresh, begun.length);
      assert.deepEqual(Buffer.concat([begun, rest]), Buffer.from(whole));
      await store.close();
    }
  });
});

Deno.test("zip stream: objects that are gone, changed or denied are left out, listed, and left out of later ranges", async () => {
  await withArchive(
    async (under) => {
      const { server } = under;
      server.objects.delete("år/brev.txt");
      server.objects.set("stor.bin", pattern(3 * MIB + 7, 9));
      server.objects.set("ar", pattern(6, 5));
      server.fault = (key) => key === "AR" ? s3Error(403, "AccessDenied") : null;
      const archive = await opened(under);
      const bytes = await readFrom(archive, under);
      const found = unzipped(bytes);
      assert.deepEqual([...found.keys()], ["år/tom.txt", "år/", "__/utanför", "_errors.txt"]);
      assert.equal(
        new TextDecoder().decode(found.get("_errors.txt")),
        '"år/brev.txt": no longer there\n' +
          '"stor.bin": changed after the archive was started\n' +
          '"AR": may not be read with these credentials\n' +
          '"ar": changed after the archive was started\n' +
          '"\\"nie\\"": no longer there\n',
      );
      assert.deepEqual(archive.failedKeys(3), ["år/brev.txt", "stor.bin", "AR"]);
      assert.equal(archive.failed, 5);
      assert.equal(bytes.length, archive.layout().totalBytes);

      // They are back, but the bytes before the range were sent without them.
      for (const [key, data] of OBJECTS) server.objects.set(key, data);
      server.fault = () => null;
      for (const offset of [1, 200, bytes.length - 400, bytes.length - 30]) {
        const other = await opened(under);
        assert.equal(other.etag, archive.etag);
        assert.equal(other.isDecided, true);
        assert.deepEqual(await readFrom(other, under, offset), bytes.subarray(offset));
      }
    },
    OBJECTS,
    ['"nie"'],
  );
});

Deno.test("zip stream: an object that changes behind its first byte breaks the archive off", async () => {
  await withArchive(async (under) => {
    const { server } = under;
    const bytes = OBJECTS.get("stor.bin") ?? new Uint8Array();
    server.fault = (key) => {
      if (key !== "stor.bin" || server.objects.get(key) !== bytes) return null;
      server.objects.set(key, pattern(3 * MIB + 7, 9));
      return cutShort(bytes, MIB, { etag: etagOf(bytes) });
    };
    const archive = await opened(under);
    await assert.rejects(readFrom(archive, under), ArchiveChanged);

    // A range that begins in it cannot be sent either; one that begins before can, without it.
    const { dataOffset } = { dataOffset: archive.locate(3000).offset };
    const other = await opened(under);
    await assert.rejects(readFrom(other, under, dataOffset + 100_000), ArchiveChanged);
  });
});

Deno.test("zip stream: an object that was sent and is gone now is not left out of the same archive", async () => {
  await withArchive(async (under) => {
    const archive = await opened(under);
    await readFrom(archive, under);
    under.server.objects.delete("AR");
    await assert.rejects(readFrom(await opened(under), under), ArchiveChanged);
  });
});

Deno.test("zip stream: an object of which a client has bytes is not left out by another process", async () => {
  await withArchive(async (under) => {
    await readFrom(await opened(under), under, 0, { enough: MIB });
    under.server.objects.delete("AR");
    const found = unzipped(await readFrom(await opened(under), { ...under }, 0));
    assert.equal(found.has("AR"), false);
  });
  await withArchive(async (under) => {
    await readFrom(await opened(under), under, 0, { enough: MIB });
    under.server.objects.delete("stor.bin");
    await assert.rejects(readFrom(await opened(under), under), ArchiveChanged);
  });
});

Deno.test("zip stream: a client that leaves before the first byte ends the reads", async () => {
  await withArchive(async (under) => {
    const { server } = under;
    const waiting = Promise.withResolvers<void>();
    const left = Promise.withResolvers<null>();
    server.fault = () => {
      waiting.resolve();
      return left.promise;
    };
    for (const wait of ["start", "complete"]) {
      const client = new AbortController();
      const archive = await opened(under);
      const stream = new ZipStream(archive, server.source, { first: 0, last: null }, false);
      const begun = wait === "start"
        ? stream.start(client.signal)
        : completeBefore(archive, server.source, 3, client.signal);
      await waiting.promise;
      client.abort();
      await assert.rejects(begun, { status: 499 });
      stream.cancel();
    }
    left.resolve(null);
  });
});

Deno.test("zip stream: a read that breaks off is continued where it was, under the same condition", async () => {
  await withArchive(async (under) => {
    const { server } = under;
    const bytes = OBJECTS.get("stor.bin") ?? new Uint8Array();
    server.fault = (key, range) => {
      if (key === "stor.bin" && range === null) return cutShort(bytes, MIB, { etag: etagOf(bytes) });
      if (key === "ar" && server.reads.filter((read) => read.key === "ar").length < 3) return s3Error(503, "SlowDown");
      return null;
    };
    const found = unzipped(await readFrom(await opened(under), under));
    assert.deepEqual(found.get("stor.bin"), Buffer.from(bytes));
    assert.deepEqual(found.get("ar (2)"), Buffer.from(OBJECTS.get("ar") ?? []));
    const again = server.reads.filter(({ key }) => key === "stor.bin").map(({ range }) => range);
    assert.equal(again[0], null);
    assert.match(again[1] ?? "", /^bytes=[1-9]\d*-$/);
  });
});

Deno.test("zip stream: a store that does not work ends the archive, an object that cannot be read does not", async () => {
  await withArchive(async (under) => {
    const { server } = under;
    server.fault = (key) => key === "AR" ? s3Error(500, "InternalError") : null;
    const found = unzipped(await readFrom(await opened(under), under));
    assert.equal(found.has("AR"), false);
    assert.match(new TextDecoder().decode(found.get("_errors.txt")), /^"AR": could not be read\n$/);
  });
  await withArchive(async (under) => {
    under.server.fault = (key) => key === "AR" ? s3Error(503, "SlowDown") : null;
    await assert.rejects(readFrom(await opened(under), under), { status: 503 });
  });
  await withArchive(async (under) => {
    under.server.fault = () => s3Error(403, "InvalidAccessKeyId");
    await assert.rejects(readFrom(await opened(under), under), { status: 401 });
  });
});

Deno.test("zip stream: within a long object, a range goes on from the last checkpoint before it", async () => {
  const length = 2 * CHECKPOINT_BYTES + 5 * MIB;
  const bytes = pattern(length, 7);
  await withArchive(async (under) => {
    const first = await opened(under);
    const begun = await readFrom(first, under, 0, { enough: CHECKPOINT_BYTES + 20 * MIB });
    const rest = await readFrom(await opened(under), under, begun.length);
    assert.equal(under.server.reads.at(-1)?.range, `bytes=${CHECKPOINT_BYTES}-`);
    const found = unzipped(Buffer.concat([begun, rest]));
    assert.ok(Buffer.from(bytes).equals(found.get("lång") ?? Buffer.alloc(0)));
    await readFrom(await opened(under), under, CHECKPOINT_BYTES + MIB, { last: CHECKPOINT_BYTES + MIB + 9 });
    assert.match(under.server.reads.at(-1)?.range ?? "", new RegExp(`^bytes=${CHECKPOINT_BYTES + MIB - 44}-$`));
  }, new Map([["lång", bytes]]));
});

Deno.test("zip stream: a stream that is cancelled ends all reads", async () => {
  const bytes = pattern(40 * MIB, 1);
  const objects = new Map(Array.from({ length: 30 }, (_, at) => [`${at}`, bytes]));
  await withArchive(async (under) => {
    const { server } = under;
    let begun = 0;
    const ended = Promise.withResolvers<void>();
    let open = 0;
    server.fault = () => {
      begun++;
      open++;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(bytes.slice(0, MIB));
        },
        cancel() {
          if (--open === 0) ended.resolve();
        },
      }, { highWaterMark: 0 });
      return new Response(body, { headers: { etag: etagOf(bytes) } });
    };
    const stream = new ZipStream(await opened(under), server.source, { first: 0, last: null }, false);
    for (let read = 0; read < 5; read++) assert.ok(await stream.read());
    assert.ok(open > 1 && open <= 8, `${open} reads`);
    stream.cancel();
    assert.equal(await stream.read(), null);
    await ended.promise;
    assert.ok(begun <= 8, `${begun} reads`);
  }, objects);
});

/** A source whose reads share one slot, and how many of them have it. */
function oneSlot(source: ObjectSource): { source: ObjectSource; taken: () => number } {
  const slots = new FairSlots(1);
  let taken = 0;
  const enter = async (signal: AbortSignal) => {
    const leave = await slots.enter("a task", signal);
    taken++;
    let isHeld = true;
    return () => {
      if (isHeld) taken--;
      isHeld = false;
      leave();
    };
  };
  return { source: { ...source, enter }, taken: () => taken };
}

Deno.test("zip stream: a slow reader holds no slot for reads of the store, and two readers share one", async () => {
  const film = pattern(12 * MIB, 6);
  await withArchive(async (under) => {
    const { source, taken } = oneSlot(under.server.source);
    const archive = await opened(under);
    const slow = new ZipStream(archive, source, { first: 0, last: null }, false);
    const chunks = [await slow.read()];
    // It has read ahead as much as it may.
    while (taken() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const bytes = await readFrom(archive, { ...under, server: { ...under.server, source } });
    assert.deepEqual(unzipped(bytes).get("film"), Buffer.from(film));
    for (let chunk; (chunk = await slow.read());) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks.map((chunk) => chunk ?? new Uint8Array())).equals(bytes));
    assert.equal(taken(), 0);
  }, new Map([["a", pattern(10, 1)], ["film", film], ["z", pattern(700_000, 2)]]));
});

Deno.test("zip stream: a read that waits before it is tried again holds no slot", async () => {
  await withArchive(async (under) => {
    const { source, taken } = oneSlot({ ...under.server.source, retryMs: [60_000] });
    const failed = Promise.withResolvers<void>();
    under.server.fault = (key) => {
      if (key !== "a") return null;
      failed.resolve();
      return s3Error(503, "SlowDown");
    };
    const archive = await opened(under);
    const stream = new ZipStream(archive, source, { first: 0, last: null }, false);
    const reading = stream.read();
    await failed.promise;
    while (taken() > 0 || under.server.reads.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    stream.cancel();
    await reading;
  }, new Map([["a", pattern(10, 1)], ["b", pattern(10, 1)]]));
});
