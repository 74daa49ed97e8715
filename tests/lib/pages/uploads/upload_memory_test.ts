import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { assertLarge, FakeBucket, file, interrupt, large, MemoryJournal, Page } from "./upload_page.ts";

Deno.test("upload memory: after a reload, files whose responses had not arrived need no answer about their names", async () => {
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
  void first.engine.add([file("a", "x"), file("b", "y")]);
  await written.promise;

  bucket.intercept = () => undefined;
  const second = new Page(bucket, journal);
  await second.send([file("a", "x"), file("b", "y")]);
  assert.deepEqual(second.engine.list.items.map(({ state, wasThere }) => [state, wasThere]), [["done", true], [
    "done",
    false,
  ]]);
  assert.deepEqual([...journal.records.keys(), ...journal.begun.keys()], []);
});

Deno.test("upload memory: after a reload, an object that took the name of a file meanwhile is not the file", async () => {
  const first = new Page();
  const { bucket, journal } = first;
  bucket.intercept = ({ operation, key }) => {
    if (operation === "put_object") bucket.objects.set(key ?? "", new TextEncoder().encode("z"));
    return undefined;
  };
  assert.deepEqual(await first.send([file("a", "x")]), ["taken"]);
  bucket.intercept = ({ operation }) => operation === "put_object" ? new Promise(() => {}) : undefined;
  first.engine.answer("replace");
  await first.until(() => first.engine.list.count("sending") === 1);

  const second = new Page(bucket, journal);
  assert.deepEqual(await second.send([file("a", "x")]), ["taken"]);
});

Deno.test("upload memory: files that have arrived are ending until the journal has forgotten them", async () => {
  const held = Promise.withResolvers<void>();
  class HeldJournal extends MemoryJournal {
    override async forgetBatch(...names: Parameters<MemoryJournal["forgetBatch"]>): Promise<void> {
      await held.promise;
      await super.forgetBatch(...names);
    }
  }
  const page = new Page(new FakeBucket(), new HeldJournal());
  await page.send([file("a.txt", "a"), file("b.txt", "b")]);
  assert.deepEqual([page.engine.list.count("done"), page.engine.isBusy, page.engine.memory.isEnding], [2, false, true]);
  held.resolve();
  await page.until(() => !page.engine.memory.isEnding);
  assert.deepEqual([...page.journal.records.keys(), ...page.journal.begun.keys()], []);
});

Deno.test("upload memory: another file of the same name is not taken for the one before the reload", async () => {
  const first = new Page();
  const { bucket, journal } = first;
  await interrupt(first);
  const other = large.toReversed();
  const second = new Page(bucket, journal);
  await second.send([{ path: "large.bin", file: new File([other], "large.bin", { lastModified: 2 }) }]);
  assert.ok(Buffer.from(other).equals(bucket.objects.get("scans/large.bin") ?? new Uint8Array()));
});

for (const prefix of ["scans/", ""]) {
  Deno.test(`upload memory: an interrupted upload can be continued after another one to "${prefix}"`, async () => {
    const first = new Page();
    const { bucket, journal } = first;
    await interrupt(first);

    const other = new Page(bucket, journal, undefined, prefix);
    await other.engine.add([file("small", "x")]);
    await other.atRest();
    assert.deepEqual([...journal.records.keys()], ["b/scans/large.bin"]);
    assert.deepEqual([...journal.begun.keys()], ["b/scans/"]);

    const later = new Page(bucket, journal);
    await later.send([file("large.bin", large)]);
    assert.equal(bucket.count("create_multipart_upload"), 1);
    assertLarge(bucket);
    assert.deepEqual([...journal.records.keys(), ...journal.begun.keys()], []);
  });
}

Deno.test("upload memory: an upload of which files were skipped is not remembered as interrupted", async () => {
  const page = new Page();
  page.bucket.objects.set("scans/a", new Uint8Array(3));
  await page.engine.add([file("a", "new"), file("b", "b"), file("x".repeat(1100), "x")]);
  await page.until(() => page.engine.list.count("done") === 1);
  page.engine.answer("skip");
  await page.atRest();
  assert.deepEqual([...page.journal.records.keys(), ...page.journal.begun.keys()], []);
});

Deno.test("upload memory: two pages that send the same file have an upload in parts each", async () => {
  const claimed = new Set<string>();
  const first = new Page(new FakeBucket(), new MemoryJournal(), claimed);
  const { bucket, journal } = first;
  await interrupt(first);
  const second = new Page(bucket, journal, claimed);
  await interrupt(second);
  assert.equal(bucket.uploads.size, 2);
  await second.engine.cancelItem(second.engine.list.items[0]);
  assert.deepEqual([...bucket.uploads.keys()], [first.engine.list.items[0].upload?.uploadId]);
});
