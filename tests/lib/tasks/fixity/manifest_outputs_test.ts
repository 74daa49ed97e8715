import assert from "node:assert/strict";

import type { FixityProgress } from "@/lib/tasks/fixity/fixity.ts";
import { fixityOrder } from "@/lib/tasks/fixity/order.ts";
import { startFixity } from "@/lib/tasks/fixity/start_fixity.ts";
import { s3Error } from "@/tests/lib/tasks/zip/object_server.ts";
import { type FixityStore, md5, runFixity, sha256, startFixityStore } from "./fixity_run.ts";

const DECLARED = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

const textIn = ({ objects }: FixityStore, key: string) => new TextDecoder().decode(objects.get(key)?.bytes);
const putKeys = ({ requests }: FixityStore) =>
  requests.filter((one) => one.startsWith("PUT ")).map((one) => one.slice("PUT ".length));

/** Writes a bag of `bag/`. @returns what the check says about it */
async function bagOf(store: FixityStore, more: Partial<FixityProgress["request"]> = {}) {
  const { progress } = await runFixity(store, { prefix: "bag/", write: "bag", full: false, ...more });
  return { written: progress.written?.map(({ key }) => key), error: progress.writeError };
}

Deno.test("fixity bag: bagit.txt comes last, so that what is broken off before is no bag, and what was written is said", async () => {
  await using store = startFixityStore();
  store.put("bag/data/a.txt", "a");
  store.fault = (method, key) =>
    method === "PUT" && key === "bag/tagmanifest-sha256.txt" ? s3Error(412, "PreconditionFailed") : null;
  const broken = await bagOf(store);
  assert.deepEqual(broken.written, ["bag/manifest-sha256.txt", "bag/bag-info.txt"]);
  assert.match(broken.error ?? "", /'bag\/tagmanifest-sha256\.txt' is there already with other bytes/);
  assert.equal(store.objects.has("bag/bagit.txt"), false);
  store.fault = () => null;
  const whole = await bagOf(store);
  assert.equal(whole.error, null);
  assert.equal(putKeys(store).at(-1), "bag/bagit.txt");
});

Deno.test("fixity bag: nothing is written where any of its files would replace another, and all of them are named", async () => {
  await using store = startFixityStore();
  store.put("bag/data/a.txt", "a");
  store.put("bag/manifest-sha256.txt", `${sha256("b")}  data/b.txt\n`);
  store.put("bag/bag-info.txt", "Source-Organization: Archive\nPayload-Oxum: 7.9\n");
  store.put("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: ISO-8859-1\n");
  const { written, error } = await bagOf(store);
  assert.deepEqual(written, []);
  assert.match(
    error ?? "",
    /The objects 'bag\/manifest-sha256\.txt', 'bag\/bag-info\.txt', 'bag\/bagit\.txt' are there already/,
  );
  assert.deepEqual(putKeys(store), []);
});

Deno.test("fixity bag: a Payload-Oxum that is out of date is mended on overwrite, what else bag-info.txt says stays", async () => {
  await using store = startFixityStore();
  store.put("bag/data/a.txt", "abc");
  store.put("bag/bagit.txt", DECLARED);
  store.put("bag/bag-info.txt", "Source-Organization: Ärkivet\nPayload-Oxum: 7\n  .9\nContact-Name: Olle");
  const { error } = await bagOf(store, { overwrite: true });
  assert.equal(error, null);
  const info = "Source-Organization: Ärkivet\nContact-Name: Olle\nPayload-Oxum: 3.1\n";
  assert.equal(textIn(store, "bag/bag-info.txt"), info);
  assert.match(textIn(store, "bag/tagmanifest-sha256.txt"), new RegExp(`^${sha256(info)}  bag-info.txt$`, "m"));
  assert.match(textIn(store, "bag/tagmanifest-sha256.txt"), new RegExp(`^${sha256(DECLARED)}  bagit.txt$`, "m"));

  store.put("bag/bag-info.txt", Uint8Array.of(0xc4, 0x0a));
  assert.match((await bagOf(store, { overwrite: true })).error ?? "", /'bag\/bag-info\.txt' is too long, or/);
});

Deno.test("fixity bag: manifests of an earlier bag are named, and stay where the check has found them right", async () => {
  await using store = startFixityStore();
  store.put("bag/data/a.txt", "abc");
  store.put("bag/bagit.txt", DECLARED.replace("1.0", "0.97"));
  store.put("bag/manifest-md5.txt", `${md5("abc")}  data/a.txt\n`);
  for (const overwrite of [false, true]) {
    const { written, error } = await bagOf(store, { overwrite });
    assert.deepEqual(written, []);
    assert.match(error ?? "", /the new manifests may contradict 'bag\/manifest-md5\.txt': delete what is out of date/);
  }

  const compared = { figures: [null], scope: "bag/data/", bag: { oxum: null, problems: [], bytes: 0, files: 0 } };
  const manifest = {
    bucket: "letters",
    key: "bag/manifest-md5.txt",
    root: "bag/",
    form: "bagit",
    algorithm: "md5",
    escapesPercent: false,
    etag: null,
  } as const;
  const { progress } = await runFixity(store, { prefix: "bag/", write: "bag" }, {
    comparison: { ...compared, manifests: [manifest] },
  });
  assert.equal(progress.writeError, null);
  assert.match(textIn(store, "bag/tagmanifest-sha256.txt"), / {2}manifest-md5\.txt$/m);
});

Deno.test("fixity bag: percent signs in names are written as the version of the bag has them, and plain where that is free", async () => {
  const versions: [string, string | null, string, string][] = [
    ["100% a.txt", null, "0.97", "100% a.txt"],
    ["a%0A.txt", null, "1.0", "a%250A.txt"],
    ["100% a.txt", "1.0", "1.0", "100%25 a.txt"],
    ["100% a.txt", "0.97", "0.97", "100% a.txt"],
  ];
  for (const [name, before, version, written] of versions) {
    await using store = startFixityStore();
    store.put(`bag/data/${name}`, "x");
    if (before !== null) store.put("bag/bagit.txt", DECLARED.replace("1.0", before));
    assert.equal((await bagOf(store)).error, null);
    assert.equal(textIn(store, "bag/bagit.txt"), DECLARED.replace("1.0", version));
    assert.equal(textIn(store, "bag/manifest-sha256.txt"), `${sha256("x")}  data/${written}\n`);
  }
  await using store = startFixityStore();
  store.put("bag/data/a%0A.txt", "x");
  store.put("bag/bagit.txt", DECLARED.replace("1.0", "0.97"));
  assert.match((await bagOf(store)).error ?? "", /^The object 'bag\/bagit\.txt' is there already/);
});

Deno.test("fixity manifest: names that tools read as those of other files are refused, and nothing is written", async () => {
  const hostile = ["data//a.txt", "data/./a.txt", "data/../a.txt", "/a.txt", "a/..", "data/a/"];
  for (const [write, name] of [...hostile.flatMap((one) => [["manifest", one], ["bag", one]]), ["bag", "*a.txt"]]) {
    await using store = startFixityStore();
    store.put("bag/data/b.txt", "b");
    const key = `bag/${name}`;
    store.put(key, "a");
    // The fake store is reached as the real one is: with keys as they are.
    const result = await bagOf(store, { write: write as "manifest" | "bag" });
    assert.deepEqual(result.written, [], key);
    assert.ok(result.error?.includes(`the name of the object '${key}' as that of another file`), result.error ?? key);
    assert.deepEqual(putKeys(store), []);
  }
});

Deno.test("fixity bag: a report cannot be written into its payload", async () => {
  await using store = startFixityStore();
  const order = fixityOrder.parse({ prefix: "bag/", write: "bag", report_to: "bag/data/reports/" });
  await assert.rejects(
    startFixity({ s3: store.s3, tasks: null as never }, null as never, "letters", order),
    /report_to: lies in the payload of the bag/,
  );
});
