import assert from "node:assert/strict";
import { UploadPace } from "@/lib/pages/uploads/upload_engine_client.ts";
import { settled } from "@/tests/lib/pages/browser/held_clock.ts";
import { assertLarge, file, isPart, isWhole, large, medium, Page, s3Error } from "./upload_page.ts";

Deno.test("upload engine: files and folders arrive byte for byte, small ones by one PUT and large ones in parts", async () => {
  const page = new Page();
  assert.deepEqual(await page.send([file("a.txt", "hello"), file("d/empty", ""), file("d/large.bin", large)]), [
    "done",
    "done",
    "done",
  ]);
  const { objects, uploads } = page.bucket;
  assert.deepEqual([...objects.keys()].sort(), ["scans/a.txt", "scans/d/empty", "scans/d/large.bin"]);
  assert.equal(new TextDecoder().decode(objects.get("scans/a.txt")), "hello");
  assertLarge(page.bucket, "scans/d/large.bin");
  assert.equal(uploads.size, 0);
  assert.equal(page.engine.list.sentBytes, page.engine.list.bytes);
  const sums = page.bucket.seen.filter((request) => isWhole(request, "scans/a.txt")).map(({ headers }) =>
    headers.get("x-amz-checksum-sha256")
  );
  assert.deepEqual(sums, ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="]);
  assert.deepEqual([page.bucket.count("put_object"), page.bucket.count("presign_objects")], [2, 0], "small files");
  assert.deepEqual([...page.journal.records.keys(), ...page.journal.begun.keys()], [], "nothing is left to remember");
});

Deno.test("upload engine: no more than six files are under way at a time", async () => {
  const bound = 6;
  for (const [content, operation] of [["x", "put_object"], [medium, "put"]] as const) {
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
    await page.send(Array.from({ length: 100 }, (_, index) => file(`${index}`, content)));
    assert.equal(page.engine.list.count("done"), 100);
    assert.equal(most, bound);
  }
});

Deno.test("upload engine: failures that pass are tried again with waits, each with a new URL", async () => {
  const page = new Page();
  const responses = [() => s3Error(500, "InternalError"), () => s3Error(403, "AccessDenied")];
  page.bucket.intercept = (request) => isPart(request, 2) ? responses.shift()?.() : undefined;
  await page.engine.add([file("large.bin", large)]);
  await page.pass(() => page.engine.list.count("done") === 1);
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
  await page.engine.add([file("a", "x")]);
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
  assert.deepEqual(await page.sendPatiently([file("bad", "x"), file("good", "x")]), ["failed", "done"]);
  assert.equal(page.engine.list.items[0].fault?.detail, "InternalError!");
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
  await page.send([file("a", "x"), file("b", "x"), file("c", "x")]);
  assert.equal(page.engine.halted?.kind, "full");
  assert.deepEqual(page.states(), ["waiting", "waiting", "waiting"]);
  isFull = false;
  page.engine.resume();
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done", "done"]);
});

Deno.test("upload engine: without a signal of the browser, our own server is asked again and again", async () => {
  const page = new Page();
  page.bucket.isOnline = false;
  const added = page.engine.add([file("a", "x")]);
  await page.until(() => page.engine.connection.isAway);
  await page.clock.pass(100);
  page.bucket.isOnline = true;
  await page.clock.pass(30);
  await added;
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

Deno.test("upload engine: cancelling deletes the parts that were sent", async () => {
  const page = new Page();
  page.bucket.intercept = (request) =>
    isPart(request, 3)
      ? new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(undefined)))
      : undefined;
  await page.engine.add([file("large.bin", large), file("a", "x")]);
  const [item] = page.engine.list.items;
  await page.until(() => item.upload?.parts.size === 2 && page.engine.list.count("done") === 1);
  assert.equal(page.bucket.uploads.size, 1);
  await page.engine.cancelItem(item);
  assert.deepEqual(page.states(), ["cancelled", "done"]);
  assert.equal(page.bucket.uploads.size, 0);
  assert.deepEqual([...page.bucket.objects.keys()], ["scans/a"]);
  assert.deepEqual([page.engine.list.bytes, page.engine.list.sentBytes], [1, 1]);
  assert.deepEqual([...page.journal.records.keys()], []);
});

Deno.test("upload engine: a failed file that is chosen again on the same page goes on where it stood", async () => {
  const page = new Page();
  page.bucket.intercept = async (request) => {
    if (!isPart(request, 3)) return;
    await page.until(() => page.engine.list.items[0].upload?.parts.size === 2);
    return s3Error(400, "InvalidRequest");
  };
  await page.engine.add([file("large.bin", large)]);
  await page.until(() => page.engine.list.count("failed") === 1);
  assert.deepEqual([page.engine.isBusy, page.engine.hasParts], [false, true]);
  page.bucket.intercept = () => undefined;
  const before = page.bucket.count("put");
  await page.engine.add([file("large.bin", large)]);
  assert.equal(page.journal.begun.get("b/scans/")?.files, 1);
  await page.atRest();
  assert.deepEqual([page.states(), page.engine.hasParts], [["done"], false]);
  assert.deepEqual([page.bucket.count("put") - before, page.bucket.count("create_multipart_upload")], [1, 1]);
  assert.deepEqual([page.engine.list.bytes, page.engine.list.sentBytes], [large.length, large.length]);
  assert.deepEqual([page.bucket.uploads.size, page.journal.records.size, page.journal.begun.size], [0, 0, 0]);
  assertLarge(page.bucket);
});

Deno.test("upload engine: an upload that was ended elsewhere begins again, and not without end", async () => {
  const page = new Page();
  let ends = 1;
  page.bucket.intercept = (request) => {
    if (isPart(request, 2) && ends-- > 0) page.bucket.uploads.clear();
    return undefined;
  };
  assert.deepEqual(await page.send([file("large.bin", large)]), ["done"]);
  assertLarge(page.bucket);

  const never = new Page();
  never.bucket.intercept = (request) => isPart(request, 1) ? s3Error(404, "NoSuchUpload") : undefined;
  assert.deepEqual(await never.send([file("large.bin", large)]), ["failed"]);
});

Deno.test("upload engine: a store that stops responding to the page is reached through the gateway", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    if (![1, 2, 3].some((number) => isPart(request, number))) return;
    page.bucket.isReached = false;
    return Response.error();
  };
  assert.deepEqual(await page.sendPatiently([file("large.bin", large)]), ["done"]);
  assert.equal(page.engine.routes.known, "unreachable");
  assertLarge(page.bucket);
});

Deno.test("upload engine: where the rules expose no entity tags, the list of parts has them", async () => {
  const page = new Page();
  page.bucket.exposesTags = false;
  assert.deepEqual(await page.send([file("large.bin", large)]), ["done"]);
  assert.equal(page.bucket.count("list_parts"), 1);
});

Deno.test("upload engine: a file that can no longer be read fails by that, a name that is too long before", async () => {
  const page = new Page();
  const gone = file("gone", "x");
  const unreadable = () => Promise.reject(new DOMException("gone", "NotReadableError"));
  gone.file.slice = () => Object.assign(new Blob(), { arrayBuffer: unreadable });
  assert.deepEqual(await page.send([gone, file("x".repeat(1100), "x")]), ["failed", "failed"]);
  const [first, second] = page.engine.list.items;
  assert.equal(first.fault?.kind, "unreadable");
  assert.equal(second.fault?.kind, "name too long");
});

Deno.test("upload engine: keys that no URL can carry go through the gateway", async () => {
  const page = new Page(undefined, undefined, undefined, "../");
  await page.engine.add([file("a", "x")]);
  await page.atRest();
  assert.deepEqual([...page.bucket.objects.keys()], ["../a"]);
  assert.equal(page.bucket.count("put_object"), 1);
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
      const added = page.engine.add([file("large.bin", large)]);
      await page.pass(() => page.engine.list.count("done") === 1);
      await added;
    }
  }
});

Deno.test("upload engine: a response in which something is missing fails its file alone", async () => {
  const page = new Page();
  page.bucket.intercept = ({ operation }) => operation === "presign_objects" ? Response.json({}) : undefined;
  assert.deepEqual(await page.sendPatiently([file("medium", medium), file("small", "x")]), ["failed", "done"]);
});

Deno.test("upload engine: one file that is forbidden or too long fails alone, several in a row stop the others", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    if (isWhole(request, "scans/0")) return s3Error(403, "AccessDenied");
    return isWhole(request, "scans/1") ? Response.json({ detail: "too long" }, { status: 413 }) : undefined;
  };
  await page.sendPatiently(Array.from({ length: 20 }, (_, index) => file(`${index}`, "x")));
  assert.deepEqual([page.engine.list.count("failed"), page.engine.list.count("done")], [2, 18]);
  assert.equal(page.engine.halted, null);

  const closed = new Page();
  closed.bucket.intercept = ({ operation }) => operation === "put_object" ? s3Error(403, "AccessDenied") : undefined;
  await closed.engine.add(Array.from({ length: 20 }, (_, index) => file(`${index}`, "x")));
  await closed.pass(() => closed.engine.halted !== null);
  assert.deepEqual([closed.engine.list.count("failed"), closed.engine.list.count("waiting")], [2, 18]);
});

Deno.test("upload pause: one file is paused and resumed, another one meanwhile arrives", async () => {
  const page = new Page();
  page.engine.pause();
  await page.engine.add([file("a", "x"), file("b", "x")]);
  page.engine.pauseItem(page.engine.list.items[0]);
  page.engine.resume();
  await page.atRest();
  assert.deepEqual(page.states(), ["paused", "done"]);
  page.engine.resumeItem(page.engine.list.items[0]);
  await page.atRest();
  assert.deepEqual(page.states(), ["done", "done"]);
});

Deno.test("upload pause: a pause ends with the last file, and files that are chosen next begin", async () => {
  const page = new Page();
  const held = Promise.withResolvers<undefined>();
  page.bucket.intercept = ({ operation }) => operation === "complete_multipart_upload" ? held.promise : undefined;
  await page.engine.add([file("large.bin", large)]);
  await page.until(() => page.states()[0] === "finishing");
  page.engine.pause();
  held.resolve(undefined);
  await page.atRest();
  assert.deepEqual([page.states(), page.engine.isPaused], [["done"], false]);
  assert.deepEqual(await page.send([file("b.txt", "b")]), ["done", "done"]);
});

Deno.test("upload pause: once everything was cancelled in a stop, files that are chosen next begin", async () => {
  const page = new Page();
  page.bucket.intercept = ({ operation }) => operation === "put_object" ? s3Error(507, "QuotaExceeded") : undefined;
  await page.engine.add([file("a", "x"), file("b", "y")]);
  await page.until(() => page.engine.halted !== null);
  page.engine.pause();
  const [first] = page.engine.list.items;
  await page.engine.cancelItem(first);
  assert.equal(page.engine.halted?.kind, "full");
  await page.engine.cancelAll();
  assert.deepEqual([page.engine.halted, page.engine.isPaused], [null, false]);
  page.bucket.intercept = () => undefined;
  assert.deepEqual(await page.send([file("c", "z")]), ["cancelled", "cancelled", "done"]);
});

Deno.test("upload pause: a file that is paused by itself stays so after a pause or a stop of all", async () => {
  for (const way of ["pause", "stop"]) {
    const page = new Page();
    const [held, full] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    page.bucket.intercept = async (request) => {
      if (isPart(request, 2)) await held.promise;
      if (request.operation !== "put_object") return;
      await full.promise;
      return s3Error(507, "QuotaExceeded");
    };
    await page.engine.add([file("large.bin", large), file("a", "x")]);
    const [item] = page.engine.list.items;
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

Deno.test("upload pace: the rate of the last ten seconds, once a second has passed", () => {
  const pace = new UploadPace();
  assert.equal(pace.rate(0), null);
  for (let now = 0; now < 20_000; now += 100) {
    pace.add(now < 10_000 ? 100 : 300, now);
    if (now < 900) assert.equal(pace.rate(now), null);
  }
  const rate = pace.rate(20_000) ?? 0;
  assert.ok(Math.abs(rate - 3000) < 100, String(rate));
  assert.equal(pace.rate(40_000), 0, "nothing was sent lately");
});

Deno.test("upload pace: a pause is not part of the rate", () => {
  const pace = new UploadPace();
  pace.add(1000, 0);
  pace.restart();
  assert.equal(pace.rate(5000), null);
  pace.add(1000, 60_000);
  assert.equal(pace.rate(62_000), 500);
});
