import assert from "node:assert/strict";
import { CONDITION_TABLES } from "@/lib/s3/store_kind.ts";
import { newTransfer, transferHandler, type TransferOrder, type TransferProgress } from "@/lib/tasks/transfer.ts";
import { TestJob } from "./test_job.ts";
import { type Seen, TransferStore } from "./transfer_store.ts";

type CopyOrder = Extract<TransferOrder, { mode: "copy" | "move" }>;

const many = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const isCopy = ({ method }: Seen) => method === "PUT";
const isDelete = ({ method }: Seen) => method === "DELETE";
const bytesOf = (keys: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(keys).map(([key, source]) => [key, `bytes of ${source}`]));
const counts = ({ total, done, deleted, skipped, renamed, failed }: TransferProgress) => ({
  total,
  done,
  deleted,
  skipped,
  renamed,
  failed,
});
const none = { total: 0, done: 0, deleted: 0, skipped: 0, renamed: 0, failed: 0 };

/** A move of everything below `x/` to `y/`, unless parts say otherwise. */
function transfer(
  store: TransferStore,
  part: Partial<CopyOrder> = {},
  { keys = [], prefixes = ["x/"] }: { keys?: readonly string[]; prefixes?: readonly string[] } = {},
): TestJob<TransferProgress> {
  const to = { bucket: "letters", prefix: "y/" };
  const order: CopyOrder = { mode: "move", from: "x/", to, ifExists: "skip", ...part };
  return new TestJob(newTransfer(order, keys, prefixes), (job) => transferHandler(store.s3).run(job));
}

Deno.test("transfer: a move copies each object, deletes its source, and counts both", async () => {
  const store = new TransferStore({ letters: [...many("x/", 250), "z"] });
  assert.deepEqual(counts(await transfer(store).run()), { ...none, total: 250, done: 250, deleted: 250 });
  const moved = Object.fromEntries(many("", 250).map((n) => [`y/${n}`, `x/${n}`]));
  assert.deepEqual(store.contents("letters"), bytesOf({ ...moved, z: "z" }));
});

Deno.test("transfer: a copy to another bucket leaves the sources; a rename gives one key", async () => {
  const store = new TransferStore({ letters: ["x/1", "x/a/2", "one"], b: [] });
  const to = { bucket: "b", prefix: "k/" };
  const what = { keys: ["one"], prefixes: ["x/"] };
  const copied = await transfer(store, { mode: "copy", from: "", to }, what).run();
  assert.deepEqual(counts(copied), { ...none, total: 3, done: 3 });
  assert.deepEqual(store.contents("b"), bytesOf({ "k/one": "one", "k/x/1": "x/1", "k/x/a/2": "x/a/2" }));
  assert.equal(Object.keys(store.contents("letters")).length, 3);
  const name = { from: "x/1", to: { bucket: "letters", prefix: "x/new" } };
  await transfer(store, name, { keys: ["x/1"], prefixes: [] }).run();
  assert.deepEqual(store.contents("letters"), bytesOf({ one: "one", "x/a/2": "x/a/2", "x/new": "x/1" }));
});

Deno.test("transfer: a source stays where its copy or its deletion fails, and the others go", async () => {
  const store = new TransferStore({ letters: many("x/", 3) });
  store.before = (request) => {
    if (isCopy(request) && request.key === "y/0") return new Response(null, { status: 409 });
    if (isDelete(request) && request.key === "x/1") return new Response(null, { status: 403 });
  };
  const end = await transfer(store).run();
  assert.deepEqual(counts(end), { ...none, total: 3, done: 2, deleted: 1, failed: 2 });
  assert.deepEqual(end.errors.map(({ Key, Status }) => [Key, Status]).sort(), [["x/0", 409], ["x/1", 403]]);
  assert.deepEqual(Object.keys(store.contents("letters")), ["x/0", "x/1", "y/1", "y/2"]);
});

Deno.test("transfer: an object whose new key is in use stays, unless it is the same, gets a number or replaces", async () => {
  for (const table of [CONDITION_TABLES.embedded, CONDITION_TABLES.minio]) {
    const make = () => {
      const store = new TransferStore({ letters: [...many("x/", 3), "y/0", "y/1"] });
      store.put("letters", "y/1", "bytes of x/1");
      store.table = table;
      return store;
    };
    const skipping = make();
    const skipped = await transfer(skipping).run();
    assert.deepEqual(counts(skipped), { ...none, total: 3, done: 2, deleted: 2, skipped: 1 });
    assert.deepEqual(skipping.contents("letters"), bytesOf({ "x/0": "x/0", "y/0": "y/0", "y/1": "x/1", "y/2": "x/2" }));
    const keeping = make();
    const kept = await transfer(keeping, { ifExists: "keep" }).run();
    assert.deepEqual(counts(kept), { ...none, total: 3, done: 3, deleted: 3, renamed: 1 });
    const both = { "y/0": "y/0", "y/0 (2)": "x/0", "y/1": "x/1", "y/2": "x/2" };
    assert.deepEqual(keeping.contents("letters"), bytesOf(both));
    const replacing = make();
    await transfer(replacing, { ifExists: "replace" }).run();
    assert.deepEqual(replacing.contents("letters"), bytesOf({ "y/0": "x/0", "y/1": "x/1", "y/2": "x/2" }));
  }
});

Deno.test("transfer: a source that is overwritten after its copy stays; before it, the newer one moves", async () => {
  for (const table of [CONDITION_TABLES.embedded, CONDITION_TABLES.hcp]) {
    const store = new TransferStore({ letters: ["x/1"] });
    store.table = table;
    store.after = (request) => void (isCopy(request) && store.put("letters", "x/1", "newer"));
    const late = await transfer(store).run();
    assert.deepEqual(counts(late), { ...none, total: 1, done: 1, failed: 1 });
    assert.deepEqual(late.errors.map(({ Key, Status }) => [Key, Status]), [["x/1", 412]]);
    assert.deepEqual(store.contents("letters"), { "x/1": "newer", "y/1": "bytes of x/1" });
  }
  const store = new TransferStore({ letters: ["x/1"] });
  let isOver = false;
  store.before = (request) => {
    if (!isCopy(request) || isOver) return;
    isOver = true;
    store.put("letters", "x/1", "newer");
  };
  assert.deepEqual(counts(await transfer(store).run()), { ...none, total: 1, done: 1, deleted: 1 });
  assert.deepEqual(store.contents("letters"), { "y/1": "newer" });
});

Deno.test("transfer: an object that comes to the new key meanwhile is replaced only if that was chosen", async () => {
  const racing = async (ifExists: CopyOrder["ifExists"]) => {
    const store = new TransferStore({ letters: ["x/1"] });
    store.before = (request) =>
      void (isCopy(request) && request.key === "y/1" && store.put("letters", "y/1", "another"));
    await transfer(store, { ifExists }).run();
    return store.contents("letters");
  };
  assert.deepEqual(await racing("skip"), { "x/1": "bytes of x/1", "y/1": "another" });
  assert.deepEqual(await racing("keep"), { "y/1": "another", "y/1 (2)": "bytes of x/1" });
  assert.deepEqual(await racing("replace"), { "y/1": "bytes of x/1" });
});

Deno.test("transfer: wherever it is broken off, nothing is lost, doubled or counted twice", async () => {
  for (const ifExists of ["skip", "keep"] as const) {
    for (const mode of ["copy", "move"] as const) {
      for (let stopAt = 1; stopAt < 70; stopAt += 3) {
        const store = new TransferStore({ letters: [...many("x/", 20), "k1", "k2", "y/3"], b: ["k1", "x/4"] });
        const to = { bucket: "b", prefix: "" };
        const job = transfer(store, { mode, from: "", to, ifExists }, { keys: ["k1", "k2"], prefixes: ["x/"] });
        job.stopAt = stopAt;
        job.isSparing = stopAt % 2 === 0;
        store.put("b", "x/4", "of another length");
        store.put("b", "k1", "another one");
        const end = await job.runThrough();
        const message = `${mode} ${ifExists} ${stopAt}`;
        const free = Object.fromEntries(
          ["k2", ...many("x/", 20).filter((key) => key !== "x/4")].map((key) => [key, key]),
        );
        const there = { ...bytesOf(free), k1: "another one", "x/4": "of another length" };
        const both = ifExists === "keep" ? bytesOf({ "k1 (2)": "k1", "x/4 (2)": "x/4" }) : {};
        assert.deepEqual(store.contents("b"), { ...there, ...both }, message);
        const left = mode === "copy" ? 23 : ifExists === "keep" ? 1 : 3;
        assert.equal(Object.keys(store.contents("letters")).length, left, message);
        assert.equal(end.done + end.skipped, 22, message);
        assert.equal(end.failed, 0, message);
        assert.equal(end.deleted, mode === "move" ? end.done : 0, message);
      }
    }
  }
});

Deno.test("transfer: a copy whose response was lost is found again, also under a number; one that may be it is reported", async () => {
  for (const hasOtherEtags of [false, true]) {
    const store = new TransferStore({ letters: ["x/1", "x/2", "y/1"] });
    store.hasOtherEtags = hasOtherEtags;
    store.put("letters", "y/1", "in use");
    const lost = new Set(["y/1 (2)", "y/2"]);
    store.after = (request) => {
      if (isCopy(request) && lost.delete(request.key)) throw new Error("stopped");
    };
    const end = await transfer(store, { ifExists: "keep" }).runThrough();
    const copies = bytesOf({ "y/1 (2)": "x/1", "y/2": "x/2" });
    if (hasOtherEtags) {
      assert.deepEqual(store.contents("letters"), {
        ...bytesOf({ "x/1": "x/1", "x/2": "x/2" }),
        ...copies,
        "y/1": "in use",
      });
      assert.deepEqual(end.errors.map(({ Status, coded }) => [Status, coded?.code]), [
        [409, "transfer_uncertain"],
        [409, "transfer_uncertain"],
      ]);
    } else {
      assert.deepEqual(store.contents("letters"), { ...copies, "y/1": "in use" });
      assert.deepEqual(counts(end), { ...none, total: 2, done: 2, deleted: 2, renamed: 1 });
    }
  }
});

Deno.test("transfer: a copy with another ETag is stored before its source goes, and the deletion is done after a crash", async () => {
  const store = new TransferStore({ letters: ["x/1"] });
  store.hasOtherEtags = true;
  let deletions = 0;
  store.before = (request) => {
    if (isDelete(request) && ++deletions === 1) throw new Error("stopped");
  };
  const job = transfer(store, { ifExists: "keep" });
  job.isSparing = true;
  assert.deepEqual(counts(await job.runThrough()), { ...none, total: 1, done: 1, deleted: 1 });
  assert.deepEqual(store.contents("letters"), bytesOf({ "y/1": "x/1" }));
});

Deno.test("transfer: it fails where the account may not write, without a try for each object, and where a bucket is gone", async () => {
  const store = new TransferStore({ letters: many("x/", 200) });
  store.before = (request) => isCopy(request) ? new Response(null, { status: 403 }) : undefined;
  await assert.rejects(transfer(store).run(), { status: 403 });
  assert.ok(store.seen.filter(isCopy).length < 12);
  assert.equal(Object.keys(store.contents("letters")).length, 200);
  const gone = transfer(new TransferStore({ letters: ["x/1"] }), { to: { bucket: "gone", prefix: "" } });
  await assert.rejects(gone.run(), { status: 404 });
});

Deno.test("transfer: cancelled, what is under way ends, and no source is gone without its copy", async () => {
  const store = new TransferStore({ letters: many("x/", 50) });
  const job = transfer(store);
  store.before = (request) => void (isCopy(request) && job.cancel());
  await assert.rejects(job.run(), { message: "cancelled" });
  const last = job.stored.at(-1)!;
  assert.equal(last.done, last.deleted);
  assert.ok(last.done > 0 && last.done <= 4);
  assert.equal(Object.keys(store.contents("letters")).length, 50);
});

Deno.test("transfer: a folder that moves up comes last, and objects that would come below it again are reported", async () => {
  const store = new TransferStore({ letters: ["p/p/1", "p/p/p/2", "p/x"] });
  const to = { bucket: "letters", prefix: "" };
  const end = await transfer(store, { from: "p/", to }, { keys: ["p/x"], prefixes: ["p/p/"] }).run();
  assert.deepEqual(store.contents("letters"), bytesOf({ "p/1": "p/p/1", "p/p/p/2": "p/p/p/2", x: "p/x" }));
  assert.deepEqual(end.errors.map(({ Key, coded }) => [Key, coded?.code]), [["p/p/p/2", "transfer_onto_itself"]]);
});

Deno.test("transfer: an object that would get an empty key is reported, and no request goes to the bucket itself", async () => {
  const store = new TransferStore({ letters: ["x/", "x/1"], b: [] });
  const end = await transfer(store, { to: { bucket: "b", prefix: "" }, ifExists: "replace" }).run();
  assert.deepEqual(counts(end), { ...none, total: 2, done: 1, deleted: 1, failed: 1 });
  assert.deepEqual(end.errors.map(({ Key, Status }) => [Key, Status]), [["x/", 400]]);
  assert.deepEqual([store.contents("letters"), store.contents("b")], [bytesOf({ "x/": "x/" }), bytesOf({ 1: "x/1" })]);
  assert.ok(store.seen.every(({ method, key }) => method === "GET" || key !== ""));
});

Deno.test("transfer: a source stays where the response to its copy names none", async () => {
  const store = new TransferStore({ letters: ["x/1"] });
  store.before = (request) => isCopy(request) ? new Response("<CopyObjectResult></CopyObjectResult>") : undefined;
  await assert.rejects(transfer(store).run(), { status: 502 });
  assert.deepEqual(store.contents("letters"), bytesOf({ "x/1": "x/1" }));
});

Deno.test("transfer: an undo that goes on after a crash deletes no object that came in the place of its marker", async () => {
  const store = new TransferStore({ letters: [] });
  let deletions = 0;
  store.before = ({ method, query }) => {
    if (method === "POST") return new Response("<DeleteResult/>");
    if (!query.has("versions")) return;
    const kind = deletions === 0 ? "DeleteMarker" : "Version";
    const newest = `<${kind}><Key>k</Key><VersionId>null</VersionId><IsLatest>true</IsLatest></${kind}>`;
    return new Response(`<ListVersionsResult>${newest}</ListVersionsResult>`);
  };
  store.after = ({ method }) => {
    if (method === "POST" && ++deletions === 1) throw new Error("stopped");
  };
  const start = newTransfer({ mode: "undo", since: 0, until: 0 }, ["k"], []);
  const end = await new TestJob(start, (job) => transferHandler(store.s3).run(job)).runThrough();
  assert.deepEqual(counts(end), { ...none, total: 1, done: 1 });
  assert.equal(deletions, 1);
});
