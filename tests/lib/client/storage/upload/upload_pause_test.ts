import assert from "node:assert/strict";
import { s3Error } from "./fake_bucket.ts";
import { assertLarge, file, FOLDER, isPart, large, MIB, Page } from "./upload_page.ts";

Deno.test("upload pause: a pause ends requests and begins none, and nothing that has arrived is sent again", async () => {
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
  await page.engine.add([file("a", "x")], FOLDER);
  assert.deepEqual([page.states(), page.engine.sentBytes], [["waiting", "waiting"], 32 * MIB]);
  const before = page.bucket.count("put");
  await page.clock.pass(60);
  assert.equal(page.bucket.count("put"), before);
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
  page.bucket.intercept = ({ operation }) => operation === "complete_multipart_upload" ? held.promise : undefined;
  await page.engine.add([file("large.bin", large)], FOLDER);
  await page.until(() => page.states()[0] === "finishing");
  page.engine.pause();
  held.resolve(undefined);
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
