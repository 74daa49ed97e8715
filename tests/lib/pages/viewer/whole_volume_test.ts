import assert from "node:assert/strict";
import fc from "fast-check";
import { type RunPages, wholeVolume } from "@/lib/pages/viewer/whole_volume.ts";
import { canvas3, manifest3, manifestOf } from "@/tests/lib/pages/iiif/manifests.ts";

const FOLDER = "https://results.example/results/ns/p/v1";
const image = (page: number, size = "max") => ({
  id: `http://images.example/iiif/${page}/full/${size}/0/default.jpg`,
  type: "Image",
});
const name = (page: number) => String(page).padStart(4, "0");
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const source = (count: number) =>
  manifestOf(manifest3(numbers(count).map((page) => canvas3(`[${page}]`, [image(page)]))));
const published = (pages: readonly number[]) =>
  pages.length === 0 ? null : manifestOf(manifest3(
    pages.map((page) =>
      canvas3(name(page), [image(page, "800,")], {
        seeAlso: [{ id: `${FOLDER}/alto/${name(page)}.xml`, type: "Dataset", format: "application/xml+alto" }],
      })
    ),
    { label: { sv: ["Volymen"] } },
  ));
const run = (texts: readonly number[], more: Partial<RunPages> = {}): RunPages => ({
  texts: new Set(texts.map(name)),
  isListed: true,
  textUrl: (page) => `${FOLDER}/alto/${page}.xml`,
  images: new Map(),
  errors: new Map(),
  ...more,
});

Deno.test("whole volume: texts that no manifest names are those of the source's pages", () => {
  const { manifest, unread, places } = wholeVolume(source(6), null, run([1, 2, 3, 5]));
  assert.deepEqual(manifest.canvases.map(({ altoSources }) => altoSources[0]?.href ?? null), [
    `${FOLDER}/alto/0001.xml`,
    `${FOLDER}/alto/0002.xml`,
    `${FOLDER}/alto/0003.xml`,
    null,
    `${FOLDER}/alto/0005.xml`,
    null,
  ]);
  assert.deepEqual([...unread], [[3, null], [5, null]]);
  assert.deepEqual(places, [0, 1, 2, 3, 4, 5]);
  assert.equal(manifest.canvases[0].label, "[1]");
});

Deno.test("whole volume: a page that the published manifest lacks has its number, its image and its reason", () => {
  const errors = new Map([["0008", "the image is damaged"]]);
  const pages = numbers(12).filter((page) => page !== 8);
  const { manifest, unread, places } = wholeVolume(source(12), published(pages), run(pages, { errors }));
  assert.equal(manifest.label, "Volymen");
  assert.deepEqual(manifest.canvases.map(({ label }) => label), numbers(12).map(name));
  assert.equal(manifest.canvases[7].images[0].choices[0].source.href, image(8).id);
  assert.deepEqual([...unread], [[7, "the image is damaged"]]);
  assert.deepEqual(places, [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]);
});

Deno.test("whole volume: pages of other names are found by the images that the run read", () => {
  const images = new Map([["sida-b", image(2).id], ["sida-a", image(1).id]]);
  const texts = { ...run([]), texts: new Set(["sida-b"]), images, errors: new Map([["sida-a", "too dark"]]) };
  const { manifest, unread } = wholeVolume(source(3), null, texts);
  assert.equal(manifest.canvases[1].altoSources[0].href, `${FOLDER}/alto/sida-b.xml`);
  assert.deepEqual([...unread], [[0, "too dark"], [2, null]]);
});

Deno.test("whole volume: a page that came into the source after the run takes no other page's name", () => {
  const images = new Map([["0001", image(2).id], ["0002", image(3).id]]);
  const { manifest, names, unread } = wholeVolume(source(3), null, run([1, 2], { images }));
  assert.deepEqual(names, ["[1]", "0001", "0002"]);
  assert.deepEqual(manifest.canvases.map(({ altoSources }) => altoSources.length), [0, 1, 1]);
  assert.deepEqual([...unread], [[0, null]]);
});

Deno.test("whole volume: where the texts cannot be listed, only pages with a reason count as not read", () => {
  const errors = new Map([["0002", "too dark"]]);
  const { unread } = wholeVolume(source(3), null, run([1], { errors, isListed: false }));
  assert.deepEqual([...unread], [[1, "too dark"]]);
});

Deno.test("whole volume: pages that show one image are told apart by their numbers, and none is lost", () => {
  const same = manifestOf(manifest3(numbers(3).map((page) => canvas3(`${page}`, [image(1)]))));
  const pages = published([1, 3]);
  assert.ok(pages);
  const { manifest, places } = wholeVolume(
    same,
    { ...pages, canvases: [...pages.canvases, pages.canvases[0]] },
    run([1, 3]),
  );
  assert.deepEqual(places, [0, 2, 3]);
  assert.equal(manifest.canvases.length, 4);
});

Deno.test("whole volume: whatever is published, each page is there once, with its text where it has one", () => {
  const subset = fc.subarray(numbers(9));
  fc.assert(fc.property(subset, subset, (pages, texts) => {
    const { manifest, unread, places } = wholeVolume(source(9), published(pages), run(texts));
    assert.equal(manifest.canvases.length, 9);
    assert.deepEqual(places, (pages.length > 0 ? pages : numbers(9)).map((page) => page - 1));
    for (const page of numbers(9)) {
      const hasText = pages.includes(page) || texts.includes(page);
      const text = manifest.canvases[page - 1].altoSources[0]?.href;
      assert.equal(text, hasText ? `${FOLDER}/alto/${name(page)}.xml` : undefined);
      assert.equal(unread.has(page - 1), !hasText);
    }
  }));
});
