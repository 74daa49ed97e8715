import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

import { type ChosenFile, UploadEngine } from "@/lib/client/storage/upload/upload_engine.ts";
import type { UploadState } from "@/lib/client/storage/upload/upload_item.ts";
import { UploadSteps } from "@/lib/client/storage/upload/upload_steps.ts";
import { webDigest } from "@/lib/client/storage/upload/part_digest.ts";
import { HeldClock, settled } from "@/tests/lib/client/held_clock.ts";
import { FakeBucket, MemoryJournal, s3Error, type SeenRequest } from "./fake_bucket.ts";

const MIB = 1024 * 1024;
const FOLDER = { bucket: "b", prefix: "scans/" };

/** A page: an engine that sends to a bucket, and what happened to it. */
class Page {
  readonly clock = new HeldClock();
  readonly engine: UploadEngine;
  /** Continues once something has changed. */
  #changed = Promise.withResolvers<void>();

  /** @param claimed uploads in parts that pages have, where those do not end with this page's beginning */
  constructor(
    readonly bucket = new FakeBucket(),
    readonly journal = new MemoryJournal(),
    claimed = new Set<string>(),
  ) {
    this.engine = new UploadEngine({
      calls: bucket.calls,
      sending: () =>
        Promise.resolve({
          put: bucket.put,
          digest: webDigest(crypto.subtle, 64 * MIB),
          steps: (context) => new UploadSteps(context),
        }),
      journal,
      claim: (uploadId) => {
        const isFree = !claimed.has(uploadId);
        claimed.add(uploadId);
        return Promise.resolve(isFree);
      },
      clock: this.clock,
      random: () => 1,
      origin: "https://stackroom.example.org",
      onChange: () => {
        this.#changed.resolve();
        this.#changed = Promise.withResolvers();
      },
    });
  }

  states(): UploadState[] {
    return this.engine.items.map(({ state }) => state);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
    await settled();
  }

  /** Waits until every file has a state that it does not leave by itself. */
  async atRest(): Promise<void> {
    await this.until(() => !this.engine.isBusy || this.engine.halted !== null);
  }

  /** Lets time pass until a condition holds, since failures are followed by waits. */
  async pass(holds: () => boolean): Promise<void> {
    for (let seconds = 0; !holds(); seconds++) {
      assert.ok(seconds < 1000, `never: ${this.states()}`);
      await this.clock.pass(1);
      await settled();
    }
  }
}

function file(path: string, content: string | Uint8Array<ArrayBuffer>): ChosenFile {
  return { path, file: new File([content], path.slice(path.lastIndexOf("/") + 1), { lastModified: 1 }) };
}

/** Bytes that differ from part to part. @param length a multiple of four */
function bytes(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(length / 4);
  for (let index = 0; index < words.length; index++) words[index] = index * 7;
  return new Uint8Array(words.buffer);
}

const large = bytes(40 * MIB);
/** Sent by one PUT, and straight to the store. */
const medium = bytes(MIB);
/** The PUT of a whole file; the probe has the URL of a part. */
const isWhole = ({ operation, key, query }: SeenRequest, name: string) =>
  /^put(?:_object)?$/.test(operation) && key === name && !query.has("upload_id");
const isPart = ({ operation, query }: SeenRequest, number: number) =>
  operation === "put" && query.get("part_number") === String(number) && query.get("upload_id") !== "not-an-upload";

/** Compared by Buffer, since deepEqual takes seconds for so many bytes. */
function assertLarge({ objects }: FakeBucket, key = "scans/large.bin"): void {
  assert.ok(Buffer.from(large).equals(objects.get(key) ?? new Uint8Array()), "the object is the file");
}

Deno.test("upload engine: files and folders arrive byte for byte, small ones by one PUT and large ones in parts", async () => {
  const page = new Page();
  await page.engine.add([file("a.txt", "hello"), file("d/empty", ""), file("d/large.bin", large)], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done", "done"]);
  const { objects, uploads } = page.bucket;
  assert.deepEqual([...objects.keys()].sort(), ["scans/a.txt", "scans/d/empty", "scans/d/large.bin"]);
  assert.equal(new TextDecoder().decode(objects.get("scans/a.txt")), "hello");
  assertLarge(page.bucket, "scans/d/large.bin");
  assert.equal(uploads.size, 0);
  assert.equal(page.engine.sentBytes, page.engine.bytes);
  const sums = page.bucket.seen.filter((request) => isWhole(request, "scans/a.txt")).map(({ headers }) =>
    headers.get("x-amz-checksum-sha256")
  );
  assert.deepEqual(sums, ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="]);
  assert.deepEqual([page.bucket.count("put_object"), page.bucket.count("presign_objects")], [2, 0], "small files");
  assert.deepEqual([...page.journal.records.keys(), ...page.journal.begun.keys()], [], "nothing is left to remember");
});

Deno.test("upload engine: no more than six large files and 64 small ones are under way at a time", async () => {
  for (const [content, operation, bound] of [["x", "put_object", 64], [medium, "put", 6]] as const) {
    const page = new Page();
    let [now, most] = [0, 0];
    const full = Promise.withResolvers<void>();
    page.bucket.intercept = async (request) => {
      if (request.operation !== operation || !isWhole(request, request.key ?? "")) return;
      most = Math.max(most, ++now);
      if (now === bound) full.resolve();
      await full.promise;
      await settled();
      now--;
      return;
    };
    await page.engine.add(Array.from({ length: 100 }, (_, index) => file(`${index}`, content)), FOLDER);
    await page.atRest();
    assert.equal(page.engine.count("done"), 100);
    assert.equal(most, bound);
  }
});

Deno.test("upload engine: failures that pass are tried again with waits, each with a new URL", async () => {
  const page = new Page();
  const responses = [() => s3Error(500, "InternalError"), () => s3Error(403, "AccessDenied")];
  page.bucket.intercept = (request) => isPart(request, 2) ? responses.shift()?.() : undefined;
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.pass(() => page.engine.count("done") === 1);
  assertLarge(page.bucket);
  // One for the probe, one for each of three parts, and two for those that failed.
  assert.equal(page.bucket.count("presign_parts"), 6);
});

Deno.test("upload engine: a store that says when to come back is left alone until then", async () => {
  const page = new Page();
  const refused = Promise.withResolvers<void>();
  page.bucket.intercept = (request) => {
    if (!isWhole(request, "scans/a")) return;
    refused.resolve();
    page.bucket.intercept = () => undefined;
    return new Response(null, { status: 503, headers: { "retry-after": "120" } });
  };
  await page.engine.add([file("a", "x")], FOLDER);
  await refused.promise;
  await settled();
  await page.clock.pass(119);
  assert.deepEqual(page.states(), ["sending"]);
  await page.clock.pass(1);
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

Deno.test("upload engine: tries are bounded, one file's failure stops no other, and it can be tried again", async () => {
  const page = new Page();
  let isBroken = true;
  page.bucket.intercept = (request) =>
    isWhole(request, "scans/bad") && isBroken ? s3Error(500, "InternalError") : undefined;
  await page.engine.add([file("bad", "x"), file("good", "x")], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["failed", "done"]);
  assert.equal(page.engine.items[0].fault instanceof Error && page.engine.items[0].fault.detail, "InternalError!");
  assert.equal(page.bucket.seen.filter((request) => isWhole(request, "scans/bad")).length, 7);
  isBroken = false;
  page.engine.retryFailed();
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done"]);
});

Deno.test("upload engine: what concerns all files stops them all, and goes on where it stood", async () => {
  const page = new Page();
  let isFull = true;
  page.bucket.intercept = ({ operation }) =>
    operation === "put_object" && isFull ? s3Error(507, "XMinioStorageFull") : undefined;
  await page.engine.add([file("a", "x"), file("b", "x"), file("c", "x")], FOLDER);
  await page.atRest();
  assert.equal(page.engine.halted?.kind, "full");
  assert.deepEqual(page.states(), ["waiting", "waiting", "waiting"]);
  isFull = false;
  page.engine.resume();
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done", "done"]);
});

Deno.test("upload engine: while the network is away nothing counts as a try, and it goes on by itself", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    if (isPart(request, 2) && page.bucket.isOnline) {
      page.bucket.isOnline = false;
      return Response.error();
    }
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.until(() => page.engine.isAway);
  await page.clock.pass(600);
  assert.deepEqual(page.states(), ["sending"]);
  page.bucket.intercept = () => undefined;
  page.bucket.isOnline = true;
  page.engine.online();
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
  assert.equal(page.engine.isAway, false);
  assertLarge(page.bucket);
});

Deno.test("upload engine: without a signal of the browser, our own server is asked again and again", async () => {
  const page = new Page();
  page.bucket.isOnline = false;
  const added = page.engine.add([file("a", "x")], FOLDER);
  await page.until(() => page.engine.isAway);
  await page.clock.pass(100);
  page.bucket.isOnline = true;
  await page.clock.pass(30);
  await added;
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

Deno.test("upload engine: a pause lets requests that are under way end, and begins none", async () => {
  const page = new Page();
  const held = Promise.withResolvers<void>();
  page.bucket.intercept = async (request) => {
    if (isPart(request, 2) || isPart(request, 3)) await held.promise;
    return undefined;
  };
  await page.engine.add([file("large.bin", large), file("a", "x")], FOLDER);
  const [item, small] = page.engine.items;
  await page.until(() => item.upload?.parts.size === 1 && item.flight.has(3) && small.state === "done");
  page.engine.pause();
  await page.engine.add([file("b", "x")], FOLDER);
  assert.deepEqual([page.engine.isPausing, page.states()], [true, ["sending", "done", "waiting"]]);
  held.resolve();
  await page.until(() => page.engine.count("done") === 2);
  assert.deepEqual([page.engine.isPausing, page.states()], [false, ["done", "done", "waiting"]]);
  await page.clock.pass(60);
  page.engine.resume();
  await page.atRest();
  assert.equal(page.bucket.count("put"), 4, "the probe and three parts");
  assertLarge(page.bucket);
});

Deno.test("upload engine: a file goes on where it stood when it is resumed before its pause has begun", async () => {
  const page = new Page();
  const held = Promise.withResolvers<void>();
  page.bucket.intercept = async (request) => {
    if (isPart(request, 2)) await held.promise;
    return undefined;
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  const [item] = page.engine.items;
  await page.until(() => item.upload?.parts.size === 2);
  page.engine.pauseItem(item);
  await page.clock.pass(9);
  page.engine.resumeItem(item);
  await page.clock.pass(60);
  assert.deepEqual(page.states(), ["sending"]);
  held.resolve();
  await page.atRest();
  assert.deepEqual([page.states(), page.bucket.count("put")], [["done"], 4]);
});

Deno.test("upload engine: a pause ends requests that take long, and nothing that has arrived is sent again", async () => {
  const page = new Page();
  const held = Promise.withResolvers<void>();
  page.bucket.intercept = async (request) => {
    if (!isPart(request, 3)) return;
    await Promise.race([held.promise, new Promise((resolve) => request.signal.addEventListener("abort", resolve))]);
    return;
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  const [item] = page.engine.items;
  await page.until(() => item.upload?.parts.size === 2 && item.flight.has(3));
  page.engine.pause();
  await page.clock.pass(9);
  assert.deepEqual(page.states(), ["sending"]);
  await page.clock.pass(1);
  assert.deepEqual([page.states(), page.engine.sentBytes], [["waiting"], 32 * MIB]);
  const before = page.bucket.count("put");
  held.resolve();
  page.engine.resume();
  await page.atRest();
  assertLarge(page.bucket);
  assert.equal(page.bucket.count("put") - before, 1);
});

Deno.test("upload engine: one file is paused and resumed, another one meanwhile arrives", async () => {
  const page = new Page();
  page.engine.pause();
  await page.engine.add([file("a", "x"), file("b", "x")], FOLDER);
  page.engine.pauseItem(page.engine.items[0]);
  page.engine.resume();
  await page.atRest();
  assert.deepEqual(page.states(), ["paused", "done"]);
  page.engine.resumeItem(page.engine.items[0]);
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done"]);
});

Deno.test("upload engine: cancelling deletes the parts that were sent", async () => {
  const page = new Page();
  page.bucket.intercept = (request) =>
    isPart(request, 3)
      ? new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(undefined)))
      : undefined;
  await page.engine.add([file("large.bin", large), file("a", "x")], FOLDER);
  const [item] = page.engine.items;
  await page.until(() => item.upload?.parts.size === 2 && page.engine.count("done") === 1);
  assert.equal(page.bucket.uploads.size, 1);
  await page.engine.cancelItem(item);
  assert.deepEqual(page.states(), ["cancelled", "done"]);
  assert.equal(page.bucket.uploads.size, 0);
  assert.deepEqual([...page.bucket.objects.keys()], ["scans/a"]);
  assert.deepEqual([page.engine.bytes, page.engine.sentBytes], [1, 1]);
  assert.deepEqual([...page.journal.records.keys()], []);
});

Deno.test("upload engine: after a reload the same files skip what has arrived", async () => {
  const first = new Page();
  const { bucket, journal } = first;
  bucket.intercept = (request) => isPart(request, 2) ? new Promise(() => {}) : undefined;
  const chosen = [file("d/a", "x"), file("d/large.bin", large)];
  await first.engine.add(chosen, FOLDER);
  await first.until(() => first.engine.items[1].upload?.parts.size === 2 && first.engine.count("done") === 1);
  assert.equal(journal.begun.get("b/scans/")?.files, 2);

  bucket.intercept = () => undefined;
  const second = new Page(bucket, journal);
  const before = bucket.count("put");
  await second.engine.add(chosen, FOLDER);
  await second.atRest();
  assert.deepEqual(second.states(), ["done", "done"]);
  assert.equal(second.engine.items[0].wasThere, true);
  // The probe, and the one part that had not arrived.
  assert.equal(bucket.count("put") - before, 2);
  assert.equal(bucket.count("create_multipart_upload"), 1);
  assertLarge(bucket, "scans/d/large.bin");
  assert.deepEqual([...journal.begun.keys()], []);
});

Deno.test("upload engine: after a reload, files whose responses had not arrived are not asked about", async () => {
  const first = new Page();
  const { bucket, journal } = first;
  const [written, held] = [Promise.withResolvers<void>(), new Promise<undefined>(() => {})];
  const seen = new Set<string | null>();
  bucket.intercept = async ({ operation, key }) => {
    if (operation !== "put_object") return;
    if (key === "scans/a") bucket.objects.set(key, new TextEncoder().encode("x"));
    // In any order: what is hashed first is sent first.
    if (seen.add(key ?? null).size === 2) written.resolve();
    return await held;
  };
  void first.engine.add([file("a", "x"), file("b", "y")], FOLDER);
  await written.promise;

  bucket.intercept = () => undefined;
  const second = new Page(bucket, journal);
  await second.engine.add([file("a", "x"), file("b", "y")], FOLDER);
  await second.atRest();
  assert.deepEqual(second.engine.items.map(({ state, wasThere }) => [state, wasThere]), [["done", true], [
    "done",
    false,
  ]]);
  assert.deepEqual([...journal.records.keys(), ...journal.begun.keys()], []);
});

Deno.test("upload engine: after a reload, an object that took the name of a file meanwhile is not the file", async () => {
  const first = new Page();
  const { bucket, journal } = first;
  bucket.intercept = ({ operation, key }) => {
    if (operation === "put_object") bucket.objects.set(key ?? "", new TextEncoder().encode("z"));
    return undefined;
  };
  await first.engine.add([file("a", "x")], FOLDER);
  await first.atRest();
  assert.deepEqual(first.states(), ["taken"]);
  bucket.intercept = ({ operation }) => operation === "put_object" ? new Promise(() => {}) : undefined;
  first.engine.answer("replace");
  await first.until(() => first.engine.count("sending") === 1);

  const second = new Page(bucket, journal);
  await second.engine.add([file("a", "x")], FOLDER);
  await second.atRest();
  assert.deepEqual(second.states(), ["taken"]);
});

Deno.test("upload engine: cancelling files that were not begun looks none of them up in the journal", async () => {
  class CountingJournal extends MemoryJournal {
    forgotten = { files: 0, batches: 0 };
    override forget(...name: Parameters<MemoryJournal["forget"]>): Promise<void> {
      this.forgotten.files++;
      return super.forget(...name);
    }
    override forgetBatch(...names: Parameters<MemoryJournal["forgetBatch"]>): Promise<void> {
      this.forgotten.batches++;
      return super.forgetBatch(...names);
    }
  }
  const journal = new CountingJournal();
  const page = new Page(new FakeBucket(), journal);
  page.engine.pause();
  await page.engine.add(Array.from({ length: 50 }, (_, index) => file(`${index}`, "x")), FOLDER);
  await page.engine.cancelAll();
  assert.equal(page.engine.count("cancelled"), 50);
  assert.deepEqual(journal.forgotten, { files: 0, batches: 1 });
  assert.deepEqual([...journal.begun.keys()], []);
});

Deno.test("upload engine: a pause ends with the last file, and files that are chosen next begin", async () => {
  const page = new Page();
  const held = Promise.withResolvers<undefined>();
  page.bucket.intercept = (request) => isWhole(request, "scans/a.bin") ? held.promise : undefined;
  const added = page.engine.add([{ path: "a.bin", file: new File([medium], "a.bin", { lastModified: 1 }) }], FOLDER);
  await page.pass(() => page.bucket.seen.some((request) => isWhole(request, "scans/a.bin")));
  page.engine.pause();
  held.resolve(undefined);
  await added;
  await page.atRest();
  assert.deepEqual([page.states(), page.engine.isPaused], [["done"], false]);
  await page.engine.add([file("b.txt", "b")], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done"]);
});

Deno.test("upload engine: files that have arrived are ending until the journal has forgotten them", async () => {
  const held = Promise.withResolvers<void>();
  class HeldJournal extends MemoryJournal {
    override async forgetBatch(...names: Parameters<MemoryJournal["forgetBatch"]>): Promise<void> {
      await held.promise;
      await super.forgetBatch(...names);
    }
  }
  const page = new Page(new FakeBucket(), new HeldJournal());
  await page.engine.add([file("a.txt", "a"), file("b.txt", "b")], FOLDER);
  await page.atRest();
  assert.deepEqual([page.engine.count("done"), page.engine.isBusy, page.engine.isEnding], [2, false, true]);
  held.resolve();
  await page.until(() => !page.engine.isEnding);
  assert.deepEqual([...page.journal.records.keys(), ...page.journal.begun.keys()], []);
});

Deno.test("upload engine: a failed file that is chosen again on the same page goes on where it stood", async () => {
  const page = new Page();
  page.bucket.intercept = async (request) => {
    if (!isPart(request, 3)) return;
    await page.until(() => page.engine.items[0].upload?.parts.size === 2);
    return s3Error(400, "InvalidRequest");
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.until(() => page.engine.count("failed") === 1);
  assert.deepEqual([page.engine.isBusy, page.engine.hasParts], [false, true]);
  page.bucket.intercept = () => undefined;
  const before = page.bucket.count("put");
  await page.engine.add([file("large.bin", large)], FOLDER);
  assert.equal(page.journal.begun.get("b/scans/")?.files, 1);
  await page.atRest();
  assert.deepEqual([page.states(), page.engine.hasParts], [["done"], false]);
  assert.deepEqual([page.bucket.count("put") - before, page.bucket.count("create_multipart_upload")], [1, 1]);
  assert.deepEqual([page.engine.bytes, page.engine.sentBytes], [large.length, large.length]);
  assert.deepEqual([page.bucket.uploads.size, page.journal.records.size, page.journal.begun.size], [0, 0, 0]);
  assertLarge(page.bucket);
});

Deno.test("upload engine: once everything was cancelled in a stop, files that are chosen next begin", async () => {
  const page = new Page();
  page.bucket.intercept = ({ operation }) => operation === "put_object" ? s3Error(507, "QuotaExceeded") : undefined;
  await page.engine.add([file("a", "x"), file("b", "y")], FOLDER);
  await page.until(() => page.engine.halted !== null);
  page.engine.pause();
  const [first] = page.engine.items;
  await page.engine.cancelItem(first);
  assert.equal(page.engine.halted?.kind, "full");
  await page.engine.cancelAll();
  assert.deepEqual([page.engine.halted, page.engine.isPaused], [null, false]);
  page.bucket.intercept = () => undefined;
  await page.engine.add([file("c", "z")], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["cancelled", "cancelled", "done"]);
});

Deno.test("upload engine: a file that is paused by itself stays so after a pause or a stop of all", async () => {
  for (const way of ["pause", "stop"]) {
    const page = new Page();
    const [held, full] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    page.bucket.intercept = async (request) => {
      if (isPart(request, 2)) await held.promise;
      if (request.operation !== "put_object") return;
      await full.promise;
      return s3Error(507, "QuotaExceeded");
    };
    await page.engine.add([file("large.bin", large), file("a", "x")], FOLDER);
    const [item] = page.engine.items;
    await page.until(() => item.upload?.parts.size === 2);
    page.engine.pauseItem(item);
    if (way === "pause") page.engine.pause();
    else {
      full.resolve();
      await page.until(() => page.engine.halted !== null);
    }
    page.bucket.intercept = () => undefined;
    held.resolve();
    full.resolve();
    page.engine.resume();
    await page.until(() => item.state !== "sending");
    assert.equal(item.state, "paused", way);
  }
});

Deno.test("upload engine: another file of the same name is not taken for the one before the reload", async () => {
  const first = new Page();
  const { bucket, journal } = first;
  bucket.intercept = (request) => isPart(request, 2) ? new Promise(() => {}) : undefined;
  await first.engine.add([file("large.bin", large)], FOLDER);
  await first.until(() => first.engine.items[0].upload?.parts.size === 2);
  bucket.intercept = () => undefined;
  const other = large.toReversed();
  const second = new Page(bucket, journal);
  await second.engine.add([{ path: "large.bin", file: new File([other], "large.bin", { lastModified: 2 }) }], FOLDER);
  await second.atRest();
  assert.ok(Buffer.from(other).equals(bucket.objects.get("scans/large.bin") ?? new Uint8Array()));
});

Deno.test("upload engine: an upload that was ended elsewhere begins again, and not without end", async () => {
  const page = new Page();
  let ends = 1;
  page.bucket.intercept = (request) => {
    if (isPart(request, 2) && ends-- > 0) page.bucket.uploads.clear();
    return undefined;
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
  assertLarge(page.bucket);

  const never = new Page();
  never.bucket.intercept = (request) => isPart(request, 1) ? s3Error(404, "NoSuchUpload") : undefined;
  await never.engine.add([file("large.bin", large)], FOLDER);
  await never.atRest();
  assert.deepEqual(never.states(), ["failed"]);
});

for (
  const [answer, states, objects] of [
    ["replace", ["done", "done"], { "scans/a": "new", "scans/b": "b" }],
    ["keep both", ["done", "done"], { "scans/a": "old", "scans/a (2)": "new", "scans/b": "b" }],
    ["skip", ["skipped", "done"], { "scans/a": "old", "scans/b": "b" }],
  ] as const
) {
  Deno.test(`upload engine: names in use wait for an answer, the others do not: ${answer}`, async () => {
    const page = new Page();
    page.bucket.objects.set("scans/a", new TextEncoder().encode("old"));
    await page.engine.add([file("a", "new"), file("b", "b")], FOLDER);
    await page.until(() => page.engine.count("done") === 1);
    assert.deepEqual(page.states(), ["taken", "done"]);
    page.engine.answer(answer);
    await page.atRest();
    assert.deepEqual(page.states(), states);
    const found = [...page.bucket.objects].map(([key, body]) => [key, new TextDecoder().decode(body)]);
    assert.deepEqual(Object.fromEntries(found), objects);
  });
}

Deno.test("upload engine: an object that appears meanwhile is not overwritten", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    const { operation } = request;
    if (isWhole(request, "scans/a")) page.bucket.objects.set("scans/a", new Uint8Array(3));
    if (operation === "complete_multipart_upload") page.bucket.objects.set("scans/large.bin", new Uint8Array(3));
    return undefined;
  };
  await page.engine.add([file("a", "new"), file("large.bin", large)], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["taken", "taken"]);
  assert.deepEqual([...page.bucket.objects.values()].map(({ length }) => length), [3, 3]);
  page.engine.answer("skip");
  await page.until(() => page.bucket.uploads.size === 0);
  assert.deepEqual(page.states(), ["skipped", "skipped"]);
});

Deno.test("upload engine: what was written by a request whose response was lost is done, not in use", async () => {
  const page = new Page();
  const lost = new Set(["put_object", "complete_multipart_upload"]);
  page.bucket.intercept = async ({ operation }) => {
    if (!lost.delete(operation)) return undefined;
    if (operation === "put_object") page.bucket.objects.set("scans/a", new TextEncoder().encode("new"));
    else await page.bucket.complete([...page.bucket.uploads.keys()][0]);
    return Response.error();
  };
  await page.engine.add([file("a", "new"), file("large.bin", large)], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["done", "done"]);
});

Deno.test("upload engine: a completion that failed although it was carried out is taken by its checksum, else sent again", async () => {
  for (const hasChecksum of [true, false]) {
    const page = new Page();
    page.bucket.objects.set("scans/large.bin", new Uint8Array(large.length));
    let isFirst = true;
    page.bucket.intercept = async ({ operation }) => {
      if (operation === "head_object" && !hasChecksum) {
        return new Response(null, { headers: { "content-length": String(large.length) } });
      }
      if (operation !== "complete_multipart_upload" || !isFirst) return undefined;
      isFirst = false;
      await page.bucket.complete([...page.bucket.uploads.keys()][0]);
      return s3Error(500, "InternalError");
    };
    await page.engine.add([file("large.bin", large)], FOLDER);
    page.engine.answer("replace");
    await page.pass(() => !page.engine.isBusy);
    assert.deepEqual(page.states(), ["done"]);
    assert.equal(page.bucket.count("create_multipart_upload"), hasChecksum ? 1 : 2);
    assertLarge(page.bucket);
  }
});

Deno.test("upload engine: what a request has written that a pause gave up is done, not in use", async () => {
  const page = new Page();
  const written = Promise.withResolvers<void>();
  page.bucket.intercept = async ({ operation, signal }) => {
    if (operation !== "put_object") return undefined;
    page.bucket.intercept = () => undefined;
    page.bucket.objects.set("scans/a", new TextEncoder().encode("new"));
    written.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return undefined;
  };
  await page.engine.add([file("a", "new")], FOLDER);
  await written.promise;
  page.engine.pause();
  await page.clock.pass(10);
  page.engine.resume();
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

Deno.test("upload engine: a store that does not know the condition is sent to without it", async () => {
  const page = new Page();
  page.bucket.intercept = ({ headers }) => headers.has("if-none-match") ? s3Error(501, "NotImplemented") : undefined;
  await page.engine.add([file("a", "x"), file("large.bin", large)], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done"]);
});

Deno.test("upload engine: without a listing and without the condition, each name is asked about", async () => {
  const page = new Page();
  page.bucket.intercept = ({ operation, headers }) => {
    if (operation === "list_objects") return Response.json({ detail: "no" }, { status: 403 });
    return headers.has("if-none-match") ? s3Error(501, "NotImplemented") : undefined;
  };
  const added = page.engine.add([file("a", "x")], FOLDER);
  await page.pass(() => page.engine.count("taken") === 1);
  await added;
  page.engine.answer("replace");
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

Deno.test("upload engine: a store without bucket CORS rules gets everything through the gateway", async () => {
  const page = new Page();
  page.bucket.isReached = false;
  page.bucket.cors = null;
  await page.engine.add([file("a", medium), file("large.bin", large)], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["done", "done"]);
  assert.equal(page.engine.routes.get("b"), "no rules");
  assert.equal(page.bucket.count("put"), 1, "the probe alone");
  assert.equal(page.bucket.count("upload_part"), 3);
  assertLarge(page.bucket);
});

Deno.test("upload engine: a missing CORS rule is added on demand, and parts go straight to the store from then on", async () => {
  const page = new Page();
  page.bucket.isReached = false;
  await page.engine.add([file("a", medium)], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.equal(page.engine.routes.get("b"), "blocked");
  await page.engine.allowDirect("b");
  assert.equal(page.engine.routes.get("b"), "store");
  await page.engine.add([file("c", medium)], FOLDER);
  await page.atRest();
  assert.deepEqual([page.bucket.count("put_object"), page.bucket.count("presign_objects")], [1, 1]);
});

Deno.test("upload engine: a store that stops responding to the page is reached through the gateway", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    if (![1, 2, 3].some((number) => isPart(request, number))) return;
    page.bucket.isReached = false;
    return Response.error();
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["done"]);
  assert.equal(page.engine.routes.get("b"), "unreachable");
  assertLarge(page.bucket);
});

Deno.test("upload engine: where the rules expose no entity tags, the list of parts has them", async () => {
  const page = new Page();
  page.bucket.exposesTags = false;
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
  assert.equal(page.bucket.count("list_parts"), 1);
});

Deno.test("upload engine: a file that cannot be read any more fails by that, a name that is too long before", async () => {
  const page = new Page();
  const gone = file("gone", "x");
  gone.file.arrayBuffer = () => Promise.reject(new DOMException("gone", "NotReadableError"));
  await page.engine.add([gone, file("x".repeat(1100), "x")], FOLDER);
  await page.atRest();
  assert.deepEqual(page.states(), ["failed", "failed"]);
  const [first, second] = page.engine.items;
  assert.equal(first.fault instanceof Error && first.fault.kind, "unreadable");
  assert.equal(second.fault, "name too long");
});

Deno.test("upload engine: keys that no URL can carry go through the gateway", async () => {
  const page = new Page();
  await page.engine.add([file("a", "x")], { bucket: "b", prefix: "../" });
  await page.atRest();
  assert.deepEqual([...page.bucket.objects.keys()], ["../a"]);
  assert.equal(page.bucket.count("put_object"), 1);
});

for (const knowsCondition of [true, false]) {
  const store = knowsCondition ? "knows the condition" : "does not know the condition";
  Deno.test(`upload engine: a file that is to be kept beside others overwrites none where the store ${store}`, async () => {
    const page = new Page();
    const { objects } = page.bucket;
    for (const key of ["scans/a.txt", "scans/a (2).txt"]) objects.set(key, new TextEncoder().encode("old"));
    if (!knowsCondition) {
      page.bucket.intercept = ({ headers }) =>
        headers.has("if-none-match") ? s3Error(501, "NotImplemented") : undefined;
    }
    await page.engine.add([file("a.txt", "new")], FOLDER);
    await page.atRest();
    page.engine.answer("keep both");
    await page.atRest();
    assert.deepEqual(page.states(), ["done"]);
    const found = [...objects].map(([key, body]) => [key, new TextDecoder().decode(body)]);
    assert.deepEqual(found, [["scans/a.txt", "old"], ["scans/a (2).txt", "old"], ["scans/a (3).txt", "new"]]);
  });
}

Deno.test("upload engine: without a listing and without the condition, nothing is written beside other objects", async () => {
  const page = new Page();
  page.bucket.objects.set("scans/a (2)", new TextEncoder().encode("old"));
  page.bucket.intercept = ({ operation, headers }) => {
    if (operation === "list_objects") return Response.json({ detail: "no" }, { status: 403 });
    return headers.has("if-none-match") ? s3Error(501, "NotImplemented") : undefined;
  };
  const added = page.engine.add([file("a", "new")], FOLDER);
  await page.pass(() => page.engine.count("taken") === 1);
  await added;
  page.engine.answer("keep both");
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["failed"]);
  assert.deepEqual([...page.bucket.objects.keys()], ["scans/a (2)"]);
});

for (const prefix of ["scans/", ""]) {
  Deno.test(`upload engine: an interrupted upload can be continued after another one to "${prefix}"`, async () => {
    const first = new Page();
    const { bucket, journal } = first;
    bucket.intercept = (request) => isPart(request, 2) ? new Promise(() => {}) : undefined;
    await first.engine.add([file("large.bin", large)], FOLDER);
    await first.until(() => first.engine.items[0].upload?.parts.size === 2);
    bucket.intercept = () => undefined;

    const other = new Page(bucket, journal);
    await other.engine.add([file("small", "x")], { bucket: "b", prefix });
    await other.atRest();
    assert.deepEqual([...journal.records.keys()], ["b/scans/large.bin"]);
    assert.deepEqual([...journal.begun.keys()], ["b/scans/"]);

    const later = new Page(bucket, journal);
    await later.engine.add([file("large.bin", large)], FOLDER);
    await later.atRest();
    assert.equal(bucket.count("create_multipart_upload"), 1);
    assertLarge(bucket);
    assert.deepEqual([...journal.records.keys(), ...journal.begun.keys()], []);
  });
}

Deno.test("upload engine: an upload of which files were skipped is not remembered as interrupted", async () => {
  const page = new Page();
  page.bucket.objects.set("scans/a", new Uint8Array(3));
  await page.engine.add([file("a", "new"), file("b", "b"), file("x".repeat(1100), "x")], FOLDER);
  await page.until(() => page.engine.count("done") === 1);
  page.engine.answer("skip");
  await page.atRest();
  assert.deepEqual([...page.journal.records.keys(), ...page.journal.begun.keys()], []);
});

Deno.test("upload engine: a response that breaks off or is not the gateway's is requested again", async () => {
  const broken = () =>
    new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError("network error")) }));
  for (const operation of ["list_objects", "create_multipart_upload", "complete_multipart_upload"]) {
    for (const respond of [broken, () => new Response("<html>proxy</html>"), () => new Response("null")]) {
      const page = new Page();
      let isFirst = true;
      page.bucket.intercept = (request) => {
        if (request.operation !== operation || !isFirst) return undefined;
        isFirst = false;
        return respond();
      };
      const added = page.engine.add([file("large.bin", large)], FOLDER);
      await page.pass(() => page.engine.count("done") === 1);
      await added;
    }
  }
});

Deno.test("upload engine: a response in which something is missing fails its file alone", async () => {
  const page = new Page();
  page.bucket.intercept = ({ operation }) => operation === "presign_objects" ? Response.json({}) : undefined;
  await page.engine.add([file("medium", medium), file("small", "x")], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["failed", "done"]);
});

Deno.test("upload engine: two pages that send the same file have an upload in parts each", async () => {
  const claimed = new Set<string>();
  const first = new Page(new FakeBucket(), new MemoryJournal(), claimed);
  const { bucket, journal } = first;
  bucket.intercept = (request) => isPart(request, 2) ? new Promise(() => {}) : undefined;
  await first.engine.add([file("large.bin", large)], FOLDER);
  await first.until(() => first.engine.items[0].upload?.parts.size === 2);
  const second = new Page(bucket, journal, claimed);
  await second.engine.add([file("large.bin", large)], FOLDER);
  await second.until(() => second.engine.items[0].upload?.parts.size === 2);
  assert.equal(bucket.uploads.size, 2);
  await second.engine.cancelItem(second.engine.items[0]);
  assert.deepEqual([...bucket.uploads.keys()], [first.engine.items[0].upload?.uploadId]);
});

Deno.test("upload engine: one file that is forbidden or too long fails alone, several in a row stop the others", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    if (isWhole(request, "scans/0")) return s3Error(403, "AccessDenied");
    return isWhole(request, "scans/1") ? Response.json({ detail: "too long" }, { status: 413 }) : undefined;
  };
  await page.engine.add(Array.from({ length: 20 }, (_, index) => file(`${index}`, "x")), FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual([page.engine.count("failed"), page.engine.count("done")], [2, 18]);
  assert.equal(page.engine.halted, null);

  const closed = new Page();
  closed.bucket.intercept = ({ operation }) => operation === "put_object" ? s3Error(403, "AccessDenied") : undefined;
  await closed.engine.add(Array.from({ length: 20 }, (_, index) => file(`${index}`, "x")), FOLDER);
  await closed.pass(() => closed.engine.halted !== null);
  assert.deepEqual([closed.engine.count("failed"), closed.engine.count("waiting")], [2, 18]);
});

Deno.test("upload engine: after a completion whose response was lost, another object of the same size is not the file", async () => {
  const other = large.toReversed();
  const page = new Page();
  page.bucket.intercept = ({ operation }) => {
    if (operation !== "complete_multipart_upload") return undefined;
    page.bucket.objects.set("scans/large.bin", other);
    page.bucket.intercept = () => undefined;
    return Response.error();
  };
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["taken"]);
  assert.ok(Buffer.from(other).equals(page.bucket.objects.get("scans/large.bin") ?? new Uint8Array()));
});
