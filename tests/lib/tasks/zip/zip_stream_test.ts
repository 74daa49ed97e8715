import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { FairSlots } from "@/lib/std/concurrency.ts";
import { type ObjectSource, openEntry } from "@/lib/tasks/zip/entry_read.ts";
import { archiveBytes, plannedEntries } from "@/lib/tasks/zip/zip_format.ts";
import { archiveChunks, joined } from "@/lib/tasks/zip/zip_download.ts";
import { cutShort, etagOf, MODIFIED, type ObjectServer, planned, s3Error, startObjectServer } from "./object_server.ts";
import { unzipped } from "./strict_zip.ts";

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
  /** The length that the archive has if nothing changes. */
  readonly totalBytes: number;
  readonly chunks: (source?: ObjectSource) => AsyncGenerator<Uint8Array<ArrayBuffer>>;
  readonly whole: (source?: ObjectSource) => Promise<Buffer>;
}

async function withArchive(
  run: (under: Under) => Promise<void>,
  objects: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = OBJECTS,
  absent: readonly string[] = [],
): Promise<void> {
  await using server = startObjectServer();
  for (const [key, bytes] of objects) server.objects.set(key, bytes);
  const { sums, blobs } = await planned(objects, absent);
  const chunks = (source = server.source) =>
    joined(archiveChunks({
      entries: () => plannedEntries(blobs.values()),
      open: (entry) => openEntry(source, entry),
      createdAt: MODIFIED,
    }));
  const whole = async (source = server.source) => Buffer.concat(await Array.fromAsync(chunks(source)));
  await run({ server, totalBytes: archiveBytes(sums), chunks, whole });
}

Deno.test("zip stream: an archive has all objects under safe names, and the length that was computed before", async () => {
  for (const absent of [[], ["inte", "här"]]) {
    await withArchive(
      async ({ totalBytes, whole }) => {
        const bytes = await whole();
        assert.equal(bytes.length, totalBytes);
        const found = unzipped(bytes);
        const names = absent.length > 0 ? [...NAMES, "_errors.txt"] : NAMES;
        assert.deepEqual([...found.keys()], names);
        for (const [at, data] of [...OBJECTS.values()].entries()) {
          assert.deepEqual(found.get(NAMES[at]), Buffer.from(data));
        }
      },
      OBJECTS,
      absent,
    );
  }
});

Deno.test("zip stream: objects that are gone, changed or denied are left out and listed", async () => {
  await withArchive(
    async ({ server, whole }) => {
      server.objects.delete("år/brev.txt");
      server.objects.set("stor.bin", pattern(3 * MIB + 7, 9));
      server.objects.set("ar", pattern(6, 5));
      server.fault = (key) => key === "AR" ? s3Error(403, "AccessDenied") : null;
      const found = unzipped(await whole());
      assert.deepEqual([...found.keys()], ["år/tom.txt", "år/", "__/utanför", "_errors.txt"]);
      assert.equal(
        new TextDecoder().decode(found.get("_errors.txt")),
        '"år/brev.txt": no longer there\n' +
          '"stor.bin": changed after the archive was started\n' +
          '"AR": may not be read with these credentials\n' +
          '"ar": changed after the archive was started\n' +
          '"\\"nie\\"": no longer there\n',
      );
    },
    OBJECTS,
    ['"nie"'],
  );
});

Deno.test("zip stream: a long object that breaks in the middle, or is longer or shorter, breaks the archive", () =>
  withArchive(async ({ server, whole }) => {
    const bytes = OBJECTS.get("stor.bin")!;
    const headers = { etag: etagOf(bytes) };
    const bodies = [
      () => cutShort(bytes, MIB, headers),
      () => new Response(new Blob([bytes.slice(1)]).stream(), { headers }),
      () => new Response(new Blob([bytes, "x"]).stream(), { headers }),
    ];
    for (const body of bodies) {
      server.fault = (key) => key === "stor.bin" ? body() : null;
      await assert.rejects(whole());
    }
  }));

Deno.test("zip stream: a short object that breaks is read again, since nothing of it was sent", () =>
  withArchive(async ({ server, whole }) => {
    const bytes = OBJECTS.get("AR")!;
    let isBroken = false;
    server.fault = (key) => {
      if (key !== "AR" || isBroken) return null;
      isBroken = true;
      return cutShort(bytes, 5000, { etag: etagOf(bytes) });
    };
    assert.deepEqual(unzipped(await whole()).get("AR"), Buffer.from(bytes));
  }));

Deno.test("zip stream: an object that stays unreadable is left out, a store that does not work ends the archive", () =>
  withArchive(async ({ server, whole }) => {
    server.fault = (key) => {
      if (key === "stor.bin") return s3Error(503, "SlowDown");
      if (key === "AR") return s3Error(500, "InternalError");
      const tries = server.reads.filter((read) => read === key).length;
      return key === "ar" && tries < 3 ? s3Error(503, "SlowDown") : null;
    };
    const found = unzipped(await whole());
    assert.deepEqual(found.get("ar (2)"), Buffer.from(OBJECTS.get("ar")!));
    assert.equal(
      new TextDecoder().decode(found.get("_errors.txt")),
      '"stor.bin": could not be read\n"AR": could not be read\n',
    );
    server.fault = () => s3Error(503, "SlowDown");
    await assert.rejects(whole(), { status: 503 });
    server.fault = () => s3Error(403, "InvalidAccessKeyId");
    await assert.rejects(whole(), { status: 401 });
  }));

Deno.test("zip stream: short objects are read ahead within bounds, long ones in their turn, and all reads end", async () => {
  const short = pattern(MIB, 1);
  const long = pattern(3 * MIB, 2);
  const objects = new Map(
    Array.from({ length: 40 }, (_, at) => at < 20 ? [`${at}`, short] as const : [`${at}`, long] as const),
  );
  await withArchive(async ({ server, chunks }) => {
    const { source } = server;
    let open = 0;
    const ended = Promise.withResolvers<void>();
    server.fault = (key) => {
      open++;
      const body = new ReadableStream<Uint8Array>({
        // Nothing of the first one.
        pull: (controller) => key === "0" ? undefined : controller.enqueue(pattern(1000, 1)),
        cancel() {
          if (--open === 0) ended.resolve();
        },
      }, { highWaterMark: 0 });
      return new Response(body, { headers: { etag: etagOf(server.objects.get(key)!) } });
    };
    const client = new AbortController();
    const reading = chunks({ ...source, signal: client.signal }).next();
    while (server.reads.length < 6) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.deepEqual(server.reads, ["0", "1", "2", "3", "4", "5"]);
    client.abort();
    await assert.rejects(reading);
    await ended.promise;
  }, objects);
  await withArchive(async ({ server, chunks }) => {
    const archive = chunks();
    let bytes = 0;
    while (bytes < 21 * MIB) bytes += (await archive.next()).value?.length ?? 0;
    assert.equal(new Set(server.reads).size, 21);
    await archive.return(undefined);
  }, objects);
});

/** A source whose reads share one slot, and how many of them have it. */
function oneSlot(source: ObjectSource): { source: ObjectSource; taken: () => number } {
  const slots = new FairSlots(1);
  let taken = 0;
  const enter = async () => {
    const leave = await slots.enter("a task", source.signal);
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
  await withArchive(async ({ server, chunks, whole }) => {
    const { source, taken } = oneSlot(server.source);
    const slow = chunks(source);
    const read = [(await slow.next()).value!];
    while (taken() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const bytes = await whole(source);
    assert.deepEqual(unzipped(bytes).get("film"), Buffer.from(film));
    for await (const chunk of slow) read.push(chunk);
    assert.ok(Buffer.concat(read).equals(bytes));
    assert.equal(taken(), 0);
  }, new Map([["a", pattern(10, 1)], ["film", film], ["z", pattern(700_000, 2)]]));
});

Deno.test("zip stream: a read that waits before it is tried again holds no slot", () =>
  withArchive(async ({ server, chunks }) => {
    const client = new AbortController();
    const { source, taken } = oneSlot({ ...server.source, retryMs: [60_000], signal: client.signal });
    const failed = Promise.withResolvers<void>();
    server.fault = (key) => {
      if (key !== "a") return null;
      failed.resolve();
      return s3Error(503, "SlowDown");
    };
    const reading = chunks(source).next();
    await failed.promise;
    while (taken() > 0 || server.reads.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    client.abort();
    await assert.rejects(reading);
  }, new Map([["a", pattern(10, 1)], ["b", pattern(10, 1)]])));
