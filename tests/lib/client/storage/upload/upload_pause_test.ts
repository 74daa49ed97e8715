import assert from "node:assert/strict";
import { s3Error } from "./fake_bucket.ts";
import { assertLarge, file, FOLDER, isPart, isWhole, large, medium, MIB, Page } from "./upload_page.ts";

Deno.test("upload pause: a pause lets requests that are under way end, and begins none", async () => {
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

Deno.test("upload pause: a file goes on where it stood when it is resumed before its pause has begun", async () => {
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

Deno.test("upload pause: a pause ends requests that take long, and nothing that has arrived is sent again", async () => {
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

Deno.test("upload pause: one file is paused and resumed, another one meanwhile arrives", async () => {
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

Deno.test("upload pause: a pause ends with the last file, and files that are chosen next begin", async () => {
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

Deno.test("upload pause: once everything was cancelled in a stop, files that are chosen next begin", async () => {
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
