import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { FixityProgress } from "@/lib/tasks/fixity/fixity.ts";
import { FakeClock } from "@/tests/lib/tasks/fake_clock.ts";
import { until } from "@/tests/until.ts";
import { md5, runFixity, sha256, startFixityStore } from "./fixity_run.ts";

const RANDOM = "0123456789abcdef0123456789abcdef";

Deno.test("fixity: ETags that are the MD5 of no object prove nothing", async () => {
  await using store = startFixityStore();
  for (const key of ["a", "b", "c", "d"]) store.put(key, `bytes of ${key}`, RANDOM);
  const { progress, rows } = await runFixity(store);
  assert.deepEqual(rows.map(({ result }) => result), ["unproven", "unproven", "unproven", "unproven"]);
  assert.deepEqual([progress.etags, progress.totals.changed], ["other", 0]);
  assert.match(rows[0].detail ?? "", /no MD5s/);
});

Deno.test("fixity: an ETag that differs is damage where another one is an MD5, in the order of the listing or not", async () => {
  await using store = startFixityStore();
  store.put("a", "damaged", md5("sound"));
  for (const key of ["b", "c"]) store.put(key, `bytes of ${key}`);
  const { progress, rows } = await runFixity(store);
  assert.deepEqual(rows.map(({ result }) => result), ["changed", "intact", "intact"]);
  assert.equal(progress.etags, "md5");
});

Deno.test("fixity: an object alone whose ETag differs is changed, and the row says what is not known", async () => {
  await using store = startFixityStore();
  store.put("a", "damaged", md5("sound"));
  const { progress, rows } = await runFixity(store);
  assert.deepEqual([rows[0].result, progress.etags], ["changed", null]);
  assert.match(rows[0].detail ?? "", /No other object shows/);
});

Deno.test("fixity: what a store encrypts with a key of a key service is not compared by its ETag, and nothing is where that is asked for", async () => {
  await using store = startFixityStore();
  store.put("a", "encrypted", RANDOM, { "x-amz-server-side-encryption": "aws:kms" });
  store.put("b", "plain");
  const { rows, progress } = await runFixity(store);
  assert.deepEqual(rows.map(({ result }) => result), ["unproven", "intact"]);
  assert.equal(progress.etags, "md5");
  store.put("c", "damaged", md5("sound"));
  const ignored = await runFixity(store, { etags: "ignore" });
  assert.deepEqual(ignored.rows.map(({ result }) => result), ["unproven", "unproven", "unproven"]);
});

Deno.test("fixity: reads no faster than the rate of the process and of the check, by the clock", async () => {
  await using store = startFixityStore();
  for (const key of ["a", "b", "c"]) store.put(key, new Uint8Array(1_000_000));
  const clock = new FakeClock();
  const begun = clock.now();
  let isOver = false;
  const run = runFixity(store, { rate: 100_000 }, { clock, rate: 500_000 }).finally(() => isOver = true);
  await until("it is over", async () => {
    await clock.advance(2000);
    return isOver ? true : null;
  });
  const { progress } = await run;
  const seconds = (clock.now() - begun) / 1000;
  // Half a second may be made up for by a burst.
  assert.ok(seconds >= 29.5, `${seconds} s for 3 MB at 0.1 MB/s`);
  assert.equal(progress.bytes, 3_000_000);
  // Of its work, not of this test's: what it took by the same clock.
  assert.ok(progress.workedMs >= 29_000 && progress.workedMs <= clock.now() - begun, String(progress.workedMs));
});

Deno.test("fixity: an object that is overwritten while it is read is read again, and one that always is cannot be read", async () => {
  await using store = startFixityStore();
  store.put("once", "first");
  store.put("always", "0");
  let isReplaced = false;
  let count = 0;
  store.fault = (method, key) => {
    if (method === "GET" && key === "once" && !isReplaced) {
      isReplaced = true;
      store.put("once", "second, of another length");
    }
    if (method === "GET" && key === "always") store.put("always", String(++count));
    return null;
  };
  const { rows, progress } = await runFixity(store);
  assert.deepEqual(rows.map(({ key, result }) => [key, result]), [["always", "intact"], ["once", "intact"]]);
  assert.equal(rows[1].size, "second, of another length".length);
  assert.equal(progress.totals.changed, 0);

  // A store that says each time that the object is another one.
  store.fault = (method, key) => method === "GET" && key === "always" ? new Response(null, { status: 412 }) : null;
  const never = await runFixity(store, { prefix: "always" });
  assert.deepEqual([never.rows[0].result, never.progress.totals.unreadable], ["unreadable", 1]);
  assert.match(never.rows[0].detail ?? "", /overwritten each time/);
});

Deno.test("fixity: a store that fails now and then is asked again, so an object in parts is not reported as damage", async () => {
  await using store = startFixityStore();
  const [first, second] = ["a".repeat(5 << 20), "the rest"];
  const etag = createHash("md5").update(Buffer.from(md5(first) + md5(second), "hex")).digest("hex");
  const headers = { "x-amz-mp-parts-count": "2" };
  store.put("parts", first + second, `${etag}-2`, headers);
  const asked = new Map<string, number>();
  let failures = 2;
  store.fault = (method) => {
    const count = (asked.get(method) ?? 0) + 1;
    asked.set(method, count);
    return count <= failures ? new Response(null, { status: 503 }) : null;
  };
  const { rows, progress } = await runFixity(store);
  assert.deepEqual([rows[0].result, rows[0].proved_by], ["intact", "etag_of_parts"], rows[0].detail);
  assert.equal(progress.totals.unreadable, 0);

  asked.clear();
  failures = Infinity;
  const { rows: [row] } = await runFixity(store);
  assert.equal(row.result, "unreadable");
  assert.deepEqual([...asked], [["HEAD", 3]], "one try more than waits");
});

Deno.test("fixity: an object that was deleted since it was listed is no damage", async () => {
  await using store = startFixityStore();
  store.put("a", "stays");
  store.put("b", "goes");
  store.fault = (_, key) => {
    if (key === "b") store.objects.delete("b");
    return null;
  };
  const { rows } = await runFixity(store);
  assert.deepEqual(rows.map(({ result }) => result), ["intact", "deleted"]);
});

const manifestOf = (key: string) => ({
  bucket: "letters",
  key,
  root: "",
  form: "list" as const,
  algorithm: "sha256" as const,
  escapesPercent: false,
  etag: null,
});

Deno.test("fixity: absent files of a manifest are looked up by one short listing for all between two objects", async () => {
  await using store = startFixityStore();
  const present = ["a/1", "m/1", "z/1"];
  for (const key of present) store.put(key, `bytes of ${key}`);
  const absent = ["a/0", "n/1"].flatMap((name) => Array.from({ length: 2000 }, (_, n) => `${name}${n}`));
  const lines = [
    ...present.map((key) => [sha256(`bytes of ${key}`), key]),
    ...absent.map((key) => [RANDOM + RANDOM, key]),
  ];
  store.put("manifest", lines.map(([digest, key]) => `${digest}  ${key}\n`).join(""));
  const lists: (string | null)[] = [];
  const late = "n/11999";
  store.listing = (query) => {
    lists.push(query.get("start-after"));
    // It comes after the listing of all has passed it.
    if (lists.length === 2) store.put(late, "late");
    return null;
  };
  const comparison = { manifests: [manifestOf("manifest")], scope: null, figures: [null], bag: null };
  const { progress } = await runFixity(store, {}, { comparison });
  const { intact, missing, changed } = progress.totals;
  assert.deepEqual([intact, missing, changed], [4, 3999, 1], "the manifest itself has an ETag, and one file came");
  assert.ok(lists.length <= 6, `${lists.length} listings`);
  const requested = new Set(store.requests.map((request) => request.split(" ")[1]));
  assert.deepEqual([...requested].sort(), [...present, late, "manifest"].sort());
});

Deno.test("fixity: an object whose body breaks at each wait for a turn is read on, and the waits are no time of work", async () => {
  await using store = startFixityStore();
  const bytes = new Uint8Array(1_000_000).fill(7);
  store.put("a", bytes);
  let reads = 0;
  store.fault = () => {
    const end = Math.min(bytes.length, 100_000 * ++reads);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async start(controller) {
        controller.enqueue(bytes.slice(0, end));
        if (end === bytes.length) return controller.close();
        await new Promise((resolve) => setTimeout(resolve, 1));
        controller.error(new Error("cut"));
      },
    });
    return new Response(body, { headers: { etag: `"${md5(bytes)}"`, "content-length": String(bytes.length) } });
  };
  const clock = new FakeClock();
  let waits = 0;
  const { progress, rows } = await runFixity(store, {}, {
    clock,
    async yieldTurn() {
      waits++;
      await clock.advance(60_000);
      return true;
    },
  });
  assert.deepEqual(rows.map(({ result, size }) => [result, size]), [["intact", bytes.length]]);
  assert.ok(waits >= 10, `${waits} waits`);
  assert.deepEqual([progress.files, progress.bytes, progress.workedMs], [1, bytes.length, 0]);
});

Deno.test("fixity: from each of its checkpoints a check with a manifest ends as if it had not been interrupted", async () => {
  await using store = startFixityStore();
  const lines: string[] = [];
  for (let n = 0; n < 12; n++) {
    const name = `data/${String(n).padStart(2, "0")}`;
    if (n % 4 !== 1) store.put(`bag/${name}`, `bytes of ${n}`);
    if (n % 4 !== 2) lines.push(`${sha256(n % 4 === 3 ? "other bytes" : `bytes of ${n}`)}  ${name}\n`);
  }
  store.put("bag/manifest-sha256.txt", lines.toReversed().join(""));
  const manifest = {
    bucket: "letters",
    key: "bag/manifest-sha256.txt",
    root: "bag/",
    form: "bagit" as const,
    algorithm: "sha256" as const,
    escapesPercent: true,
    etag: null,
  };
  const comparison = {
    manifests: [manifest],
    scope: "bag/data/",
    figures: [null],
    bag: { oxum: null, problems: [], bytes: 0, files: 0 },
  };
  const checkpoints: FixityProgress[] = [];
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  // Three keys fit into memory at a time.
  const options = { comparison, blobs, windowKeys: 3 };
  const whole = await runFixity(store, {}, { ...options, checkpoints });
  assert.deepEqual(whole.progress.totals, {
    intact: 4,
    changed: 3,
    missing: 3,
    unreadable: 0,
    unproven: 0,
    not_in_manifest: 3,
    deleted: 0,
  });
  const outcome = ({ progress: { totals, files, bytes, provedBy, comparison }, rows }: typeof whole) => ({
    totals,
    files,
    bytes,
    provedBy,
    bag: comparison?.bag,
    rows,
  });
  assert.equal(checkpoints.length, 15);
  for (const progress of checkpoints) {
    assert.deepEqual(outcome(await runFixity(store, {}, { ...options, progress })), outcome(whole));
  }
});
