import assert from "node:assert/strict";

import { volumeLinks } from "@/lib/campaigns/projection/urls.ts";
import { canvasOfPage, readPageAddress } from "@/lib/pages/volume_address.ts";

Deno.test("page address: what the API's addresses of a volume say", () => {
  const links = volumeLinks("https://site.example/results", "batch-default", "lion-v2")("SE/GÖT 1");
  const { page, volume } = readPageAddress(`${links.altoPrefix}0007%20r.xml?x=1#y`);
  assert.deepEqual([page, volume?.volume], ["0007 r", "SE/GÖT 1"]);
});

Deno.test("page address: any other address gives the name of the file alone", () => {
  const others = {
    "https://site.example/results/ns/p/v/page.XML": "page",
    "https://site.example/alto/%E0.xml": "%E0",
    "https://site.example/results/": "",
    "no address": "",
  };
  for (const [href, page] of Object.entries(others)) assert.deepEqual(readPageAddress(href), { page, volume: null });
});

Deno.test("canvas of a page: the one that names its file, whatever else a manifest holds", () => {
  const file = (name: string) => `https://old.example/results/ns/p/v/alto/${name}`;
  const canvas = (...ids: unknown[]) => ({ type: "Canvas", seeAlso: ids.map((id) => ({ id })) });
  const manifest = {
    items: [null, canvas(1, "x"), {}, canvas(file("0003.txt"), file("0003%28r%29.xml")), canvas(file("4.xml"))],
  };
  assert.equal(canvasOfPage(manifest, "0003(r)"), 3);
  assert.equal(canvasOfPage(manifest, "4"), 4);
  assert.equal(canvasOfPage(manifest, "3"), null);
  for (const other of [null, [], "x", {}, { items: {} }, { items: [{ seeAlso: file("4.xml") }] }]) {
    assert.equal(canvasOfPage(other, "4"), null);
  }
});
