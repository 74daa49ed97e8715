import assert from "node:assert/strict";
import fc from "fast-check";
import { readViewerAddress, writeViewerAddress } from "@/lib/pages/page_paths.ts";

const PAGE = "https://stackroom.example/uv.html";
const MANIFEST = "https://example.org/a+b/manifest.json?x=1&y=å";

Deno.test("viewer address: the manifest and the canvas are read as the Universal Viewer writes them", () => {
  const href = new URL(MANIFEST).href;
  const encoded = encodeURIComponent(href);
  for (
    const hash of [`#?manifest=${encoded}&cv=3`, `?cv=3&manifest=${encoded}`, `#?c=0&m=0&cv=3&manifest=${encoded}`]
  ) {
    assert.deepEqual(readViewerAddress(hash, PAGE), {
      manifest: href,
      isRefused: false,
      canvas: 3,
      page: null,
      campaign: null,
      volume: null,
    });
  }
  assert.equal(
    readViewerAddress("#?manifest=https://example.org/a+b.json", PAGE).manifest,
    "https://example.org/a+b.json",
  );
  assert.equal(
    readViewerAddress("#?manifest=/results/iiif.json", PAGE).manifest,
    "https://stackroom.example/results/iiif.json",
  );
});

Deno.test("viewer address: a missing manifest differs from one that is not opened", () => {
  for (const hash of ["", "#", "#?", "#?manifest=", "#?cv=1&manifest=%20"]) {
    assert.equal(readViewerAddress(hash, PAGE).manifest, null);
    assert.equal(readViewerAddress(hash, PAGE).isRefused, false, hash);
  }
  for (const manifest of ["javascript:alert(1)", "data:application/json,{}", "https://u:p@h.example/", "http://["]) {
    const read = readViewerAddress(`#?manifest=${encodeURIComponent(manifest)}`, PAGE);
    assert.deepEqual([read.manifest, read.isRefused], [null, true], manifest);
  }
});

Deno.test("viewer address: a canvas is a whole number and nothing else", () => {
  for (const cv of ["-1", "1.5", "1e3", "0x1", "x", "", "9999999"]) {
    assert.equal(readViewerAddress(`#?cv=${cv}`, PAGE).canvas, null, cv);
  }
});

Deno.test("viewer address: a campaign is a namespace and a name, and no other text", () => {
  const campaign = (text: string) => readViewerAddress(`#?manifest=/iiif.json&campaign=${text}`, PAGE).campaign;
  assert.deepEqual(campaign("batch-default%2Fsvea-1870"), { namespace: "batch-default", name: "svea-1870" });
  for (const text of ["", "svea-1870", "a/b/c", "A/b", "a/%3Cb%3E", "a/"]) assert.equal(campaign(text), null, text);
});

Deno.test("viewer address: a volume is a pipeline and an id, and its source one of http or https", () => {
  const volume = (text: string) => readViewerAddress(`#?manifest=/iiif.json&volume=${text}`, PAGE).volume;
  for (const text of ["", "p", "/v", "p/"]) assert.equal(volume(text), null, text);
  assert.equal(volume("p/v&source=javascript:alert(1)")?.sourceUrl, null);
});

Deno.test("viewer address: what is written is read again", () => {
  const url = fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => new URL(url).href);
  const name = fc.string({ minLength: 1, unit: "grapheme" });
  const volume = fc.record({ pipeline: name, id: name, sourceUrl: fc.option(url) }, { noNullPrototype: true }).filter((
    { pipeline },
  ) => !pipeline.includes("/"));
  fc.assert(
    fc.property(
      url,
      fc.oneof(fc.nat(99_999), name),
      fc.option(volume),
      fc.boolean(),
      (manifest, place, volume, isIn) => {
        fc.pre(volume?.sourceUrl !== manifest);
        const campaign = isIn ? { namespace: "batch-default", name: "svea-1870" } : null;
        const { isRefused, canvas, page, ...read } = readViewerAddress(
          writeViewerAddress(manifest, place, campaign, volume),
          PAGE,
        );
        assert.deepEqual([isRefused, canvas ?? page], [false, place]);
        assert.deepEqual(read, { manifest, campaign, volume });
      },
    ),
    { numRuns: 30 },
  );
});
