import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { findTaken } from "@/lib/pages/uploads/names_in_use_client.ts";
import {
  assertLarge,
  FakeBucket,
  file,
  isWhole,
  large,
  Page,
  s3Error,
  withoutCondition,
  withoutListingAndCondition,
} from "./upload_page.ts";

for (
  const [answer, states, objects] of [
    ["replace", ["done", "done"], { "scans/a": "new", "scans/b": "b" }],
    ["keep both", ["done", "done"], { "scans/a": "old", "scans/a (2)": "new", "scans/b": "b" }],
    ["skip", ["skipped", "done"], { "scans/a": "old", "scans/b": "b" }],
  ] as const
) {
  Deno.test(`names in use: they wait for an answer, the others do not: ${answer}`, async () => {
    const page = new Page();
    page.bucket.objects.set("scans/a", new TextEncoder().encode("old"));
    await page.engine.add([file("a", "new"), file("b", "b")]);
    await page.until(() => page.engine.list.count("done") === 1);
    assert.deepEqual(page.states(), ["taken", "done"]);
    page.engine.answer(answer);
    await page.atRest();
    assert.deepEqual(page.states(), states);
    const found = [...page.bucket.objects].map(([key, body]) => [key, new TextDecoder().decode(body)]);
    assert.deepEqual(Object.fromEntries(found), objects);
  });
}

Deno.test("names in use: an object that appears meanwhile is not overwritten", async () => {
  const page = new Page();
  page.bucket.intercept = (request) => {
    const { operation } = request;
    if (isWhole(request, "scans/a")) page.bucket.objects.set("scans/a", new Uint8Array(3));
    if (operation === "complete_multipart_upload") page.bucket.objects.set("scans/large.bin", new Uint8Array(3));
    return undefined;
  };
  assert.deepEqual(await page.send([file("a", "new"), file("large.bin", large)]), ["taken", "taken"]);
  assert.deepEqual([...page.bucket.objects.values()].map(({ length }) => length), [3, 3]);
  page.engine.answer("skip");
  await page.until(() => page.bucket.uploads.size === 0);
  assert.deepEqual(page.states(), ["skipped", "skipped"]);
});

Deno.test("names in use: what was written by a request whose response was lost is done, not in use", async () => {
  const page = new Page();
  const lost = new Set(["put_object", "complete_multipart_upload"]);
  page.bucket.intercept = async ({ operation }) => {
    if (!lost.delete(operation)) return undefined;
    if (operation === "put_object") page.bucket.objects.set("scans/a", new TextEncoder().encode("new"));
    else await page.bucket.complete([...page.bucket.uploads.keys()][0]);
    return Response.error();
  };
  assert.deepEqual(await page.sendPatiently([file("a", "new"), file("large.bin", large)]), ["done", "done"]);
});

Deno.test("names in use: a completion that failed although it was carried out is taken by its checksum, else sent again", async () => {
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
    await page.engine.add([file("large.bin", large)]);
    page.engine.answer("replace");
    await page.pass(() => !page.engine.isBusy);
    assert.deepEqual(page.states(), ["done"]);
    assert.equal(page.bucket.count("create_multipart_upload"), hasChecksum ? 1 : 2);
    assertLarge(page.bucket);
  }
});

Deno.test("names in use: what an aborted request of a pause has written is done, not in use", async () => {
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
  await page.engine.add([file("a", "new")]);
  await written.promise;
  page.engine.pause();
  await page.clock.pass(10);
  page.engine.resume();
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

Deno.test("names in use: a store that does not know the condition is sent to without it", async () => {
  const page = new Page();
  page.bucket.intercept = withoutCondition;
  assert.deepEqual(await page.send([file("a", "x"), file("large.bin", large)]), ["done", "done"]);
});

Deno.test("names in use: without a listing and without the condition, each name is looked up", async () => {
  const page = new Page();
  page.bucket.intercept = withoutListingAndCondition;
  const added = page.engine.add([file("a", "x")]);
  await page.pass(() => page.engine.list.count("taken") === 1);
  await added;
  page.engine.answer("replace");
  await page.atRest();
  assert.deepEqual(page.states(), ["done"]);
});

for (const knowsCondition of [true, false]) {
  const store = knowsCondition ? "knows the condition" : "does not know the condition";
  Deno.test(`names in use: a file that is to be kept beside others overwrites none where the store ${store}`, async () => {
    const page = new Page();
    const { objects } = page.bucket;
    for (const key of ["scans/a.txt", "scans/a (2).txt"]) objects.set(key, new TextEncoder().encode("old"));
    if (!knowsCondition) page.bucket.intercept = withoutCondition;
    await page.send([file("a.txt", "new")]);
    page.engine.answer("keep both");
    await page.atRest();
    assert.deepEqual(page.states(), ["done"]);
    const found = [...objects].map(([key, body]) => [key, new TextDecoder().decode(body)]);
    assert.deepEqual(found, [["scans/a.txt", "old"], ["scans/a (2).txt", "old"], ["scans/a (3).txt", "new"]]);
  });
}

Deno.test("names in use: without a listing and without the condition, nothing is written beside other objects", async () => {
  const page = new Page();
  page.bucket.objects.set("scans/a (2)", new TextEncoder().encode("old"));
  page.bucket.intercept = withoutListingAndCondition;
  const added = page.engine.add([file("a", "new")]);
  await page.pass(() => page.engine.list.count("taken") === 1);
  await added;
  page.engine.answer("keep both");
  await page.pass(() => !page.engine.isBusy);
  assert.deepEqual(page.states(), ["failed"]);
  assert.deepEqual([...page.bucket.objects.keys()], ["scans/a (2)"]);
});

Deno.test("names in use: after a completion whose response was lost, another object of the same size is not the file", async () => {
  const other = large.toReversed();
  const page = new Page();
  page.bucket.intercept = ({ operation }) => {
    if (operation !== "complete_multipart_upload") return undefined;
    page.bucket.objects.set("scans/large.bin", other);
    page.bucket.intercept = () => undefined;
    return Response.error();
  };
  assert.deepEqual(await page.sendPatiently([file("large.bin", large)]), ["taken"]);
  assert.ok(Buffer.from(other).equals(page.bucket.objects.get("scans/large.bin") ?? new Uint8Array()));
});

Deno.test("taken keys: those of the listing that are sought, with no more pages than keys", async () => {
  const key = fc.string({ unit: fc.constantFrom("a", "b", "~", "/", "å", "\uffee", "\u{1f600}", "!"), minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(key), fc.array(key), fc.integer({ min: 1, max: 5 }), async (has, seeks, size) => {
      const bucket = new FakeBucket();
      bucket.pageSize = size;
      for (const one of has) bucket.objects.set(one, new Uint8Array(one.length));
      const taken = await findTaken(bucket.calls, seeks);
      const expected = new Map(seeks.filter((one) => has.includes(one)).map((one) => [one, one.length]));
      assert.deepEqual([...taken].sort(), [...expected].sort());
      assert.ok(bucket.seen.length <= new Set(seeks).size * 2, `${bucket.seen.length} pages`);
    }),
    { examples: [[["a", "b", "å", "\uffee", "/"], ["\uffee", "a"], 1]] },
  );
});

Deno.test("taken keys: ten thousand names for a folder that is new take one page", async () => {
  const bucket = new FakeBucket();
  for (let index = 0; index < 5000; index++) bucket.objects.set(`other/${index}`, new Uint8Array());
  const keys = Array.from({ length: 10_000 }, (_, index) => `new/${index}`);
  assert.equal((await findTaken(bucket.calls, keys)).size, 0);
  assert.equal(bucket.seen.length, 1);
});
