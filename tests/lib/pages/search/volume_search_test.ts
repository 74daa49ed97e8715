import assert from "node:assert/strict";
import { browserIdle, MAX_FAILED_IN_A_ROW, VolumeSearch } from "@/lib/pages/search/volume_search_client.ts";
import type { Link } from "@/lib/pages/iiif/manifest.ts";
import { altoOf } from "./alto_files.ts";

const link = (href: string): Link => ({ href, label: "ALTO", format: null, profile: null });
const EXTENT = { width: null, height: null };
const volume = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ altoSources: [link(`p${i}`)], ...EXTENT }));
const idle = () => Promise.resolve();

Deno.test("volume search: texts are read from the open page on, a few at a time, and found as they come", async () => {
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const search = new VolumeSearch({
    idle,
    async fetchText(url) {
      order.push(url);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return { ok: true, text: altoOf(`text ${url}`) };
    },
  });
  search.query.value = "text";
  const done = search.start([{ altoSources: [], ...EXTENT }, ...volume(9)], 4);
  assert.deepEqual([search.progress.value.total, search.progress.value.isReading], [9, true]);
  await done;
  assert.deepEqual(order, ["p3", "p4", "p5", "p6", "p7", "p8", "p0", "p1", "p2"]);
  assert.equal(most, 3);
  assert.deepEqual(search.progress.value, { total: 9, read: 9, failed: 0, isFull: false, isReading: false });
  assert.deepEqual(search.found.value.hits.map(({ canvas }) => canvas), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  search.query.value = "TEXT P4";
  assert.equal(search.found.value.hits.length, 1);
  search.isFolded.value = false;
  assert.equal(search.found.value.hits.length, 0);
});

Deno.test("volume search: what is under way is cancelled when the reader leaves", async () => {
  const begun = Promise.withResolvers<void>();
  let cancelled = 0;
  const search = new VolumeSearch({
    idle,
    fetchText: (_url, signal) => {
      begun.resolve();
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          cancelled++;
          resolve({ ok: false });
        })
      );
    },
  });
  const done = search.start(volume(10), 0);
  await begun.promise;
  search.stop();
  await done;
  assert.ok(cancelled >= 1 && cancelled <= 3);
  assert.deepEqual(search.progress.value, { total: 10, read: 0, failed: 0, isFull: false, isReading: false });
});

/** A search over a server that gives the texts of the pages that are readable, and the pages that it was asked for. */
function searchOf(isReadable: (url: string, count: number) => boolean) {
  const fetched: string[] = [];
  const fetchText = (url: string) => {
    fetched.push(url);
    const isGiven = isReadable(url, fetched.length);
    return Promise.resolve(isGiven ? { ok: true, text: altoOf("ord") } as const : { ok: false } as const);
  };
  const search = new VolumeSearch({ idle, fetchText });
  search.query.value = "ord";
  return { search, fetched };
}

Deno.test("volume search: another volume replaces the texts of the one before", async () => {
  const { search } = searchOf(() => true);
  await search.start(volume(5), 0);
  await search.start(volume(2), 0);
  assert.equal(search.found.value.hits.length, 2);
});

Deno.test("volume search: a volume that is read already is not read again", async () => {
  const { search, fetched } = searchOf(() => true);
  const canvases = volume(3);
  await Promise.all([search.start(canvases, 0), search.start(canvases, 1)]);
  await search.start(canvases, 2);
  assert.equal(fetched.length, 3);
});

Deno.test("volume search: a file that cannot be read is counted, and many in a row end the reading", async () => {
  const { search, fetched } = searchOf((url) => url === "p2");
  await search.start(volume(1000), 0);
  const { read, failed, isReading } = search.progress.value;
  assert.deepEqual([read, search.found.value.hits.length, isReading], [1, 1, false]);
  assert.ok(failed >= MAX_FAILED_IN_A_ROW && fetched.length <= MAX_FAILED_IN_A_ROW + 6);
});

Deno.test("volume search: the next start tries the texts again that could not be read, and only those", async () => {
  let isUp = false;
  const { search, fetched } = searchOf((url) => isUp || url === "p0");
  const canvases = volume(40);
  await search.start(canvases, 0);
  assert.deepEqual([search.progress.value.read, search.progress.value.isReading], [1, false]);
  isUp = true;
  fetched.length = 0;
  await search.start(canvases, 39);
  assert.deepEqual([fetched[0], fetched.length], ["p39", 39]);
  assert.deepEqual(search.progress.value, { total: 40, read: 40, failed: 0, isFull: false, isReading: false });
});

Deno.test("volume search: files that fail now and then do not end the reading", async () => {
  const { search } = searchOf((_url, count) => count % 4 === 1);
  await search.start(volume(100), 0);
  assert.deepEqual([search.progress.value.read, search.progress.value.failed], [25, 75]);
});

Deno.test("volume search: where a browser tells no idle moments, the next task is one", async () => {
  assert.equal(await browserIdle(), undefined);
});
