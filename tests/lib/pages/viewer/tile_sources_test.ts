import assert from "node:assert/strict";
import { TileSources } from "@/lib/pages/viewer/tile_sources_client.ts";
import type { ImageSource } from "@/lib/pages/iiif/manifest.ts";

const ID = "https://images.example.org/p1";
const HREF = "https://images.example.org/p1.jpg";

/** An image of a service. */
function sourceOf(id: string, href: string | null = null): ImageSource {
  const limits = { maxWidth: null, maxHeight: null, maxArea: null };
  const unknown = { width: null, height: null };
  const service = { id, version: 3, level: null, ...unknown, sizes: [], tiles: [], ...limits } as const;
  return { href, format: null, ...unknown, service };
}

/** What is opened of an image whose service describes itself so. */
async function opened(info: unknown, href: string | null = null) {
  const answer = await new TileSources(() => Promise.resolve(Response.json(info))).of(sourceOf(ID, href));
  return answer.ok ? answer.source : null;
}

const tilesOf = async (info: object) =>
  (await opened({ profile: "level1", width: 5000, height: 3000, ...info }))?.tiles;

const USUAL = [{ width: 1024, height: 1024, scaleFactors: [1, 2, 4, 8] }];

Deno.test("tile sources: tiles that would be without number give way to usual ones", async () => {
  for (
    const tile of [{ width: 1 }, { width: 0.01 }, { width: 512.5 }, { width: 512, height: 1 }, { width: 63 }, {
      width: 64,
      scaleFactors: [1],
    }]
  ) {
    assert.deepEqual(await tilesOf({ tiles: [tile] }), USUAL, JSON.stringify(tile));
  }
  assert.deepEqual(await tilesOf({}), USUAL);
  const [band] = await tilesOf({ width: 200_000, height: 1 }) as { width: number; scaleFactors: number[] }[];
  assert.equal(band.width, 512);
  assert.equal(band.scaleFactors.at(-1), 512);
});

Deno.test("tile sources: usual tiles keep to the limits of the service", async () => {
  const side = async (limits: object) => (await tilesOf(limits) as { width: number }[])[0].width;
  assert.deepEqual(
    [await side({ maxWidth: 800 }), await side({ maxWidth: 2000, maxHeight: 300 }), await side({ maxArea: 70_000 })],
    [512, 256, 256],
  );
  assert.equal(await side({ maxWidth: 10 }), 64);
});

Deno.test("tile sources: a service of level 0 without tiles and sizes gives its whole image", async () => {
  const info = { profile: "level0", width: 500, height: 500 };
  assert.deepEqual(await opened(info), { type: "image", url: `${ID}/full/max/0/default.jpg` });
  assert.deepEqual(await opened(info, HREF), { type: "image", url: HREF });
});

Deno.test("tile sources: the description of an image knows its version better than the manifest", async () => {
  const info = { "@context": "http://iiif.io/api/image/2/context.json", profile: "level1", width: 5000, height: 3000 };
  assert.equal((await opened(info))?.["@context"], info["@context"]);
  assert.equal(
    (await opened({ ...info, "@context": undefined }))?.["@context"],
    "http://iiif.io/api/image/3/context.json",
  );
});

Deno.test("tile sources: tiles without scale factors are there for each halving of the image", async () => {
  const factors = { width: 512, height: 512, scaleFactors: [1, 2, 4, 8, 16] };
  assert.deepEqual(await tilesOf({ tiles: [{ width: 512 }] }), [factors]);
  assert.deepEqual(await tilesOf({ tiles: [{ width: 512, scaleFactors: [0.5, -1, "x"] }] }), [factors]);
  const own = [{ width: 512, height: 256, scaleFactors: [1, 2, 4] }];
  assert.deepEqual(await tilesOf({ tiles: own }), own);
  // Levels 2 to 8 would have tiles without an extent.
  const gap = [{ width: 256, height: 256, scaleFactors: [16] }, { width: 512, height: 512, scaleFactors: [1, 2, 4] }];
  assert.deepEqual(await tilesOf({ tiles: [...gap, { width: 1 }] }), [gap[0]]);
});

Deno.test("tile sources: sizes are passed on beside tiles only where they are the image's levels", async () => {
  const info = { profile: "level1", width: 1024, height: 512, tiles: [{ width: 256, scaleFactors: [1, 2, 4] }] };
  const sizes = [{ width: 256, height: 128 }, { width: 512, height: 256 }];
  assert.deepEqual((await opened({ ...info, sizes }))?.sizes, sizes);
  assert.equal((await opened({ ...info, sizes: [{ width: 1024, height: 200_000 }, sizes[0]] }))?.sizes, undefined);
});

Deno.test("tile sources: an image of no usable extent is shown by its file, or fails", async () => {
  const tiles = [{ width: 1 }];
  for (
    const info of [{ width: 1e7, height: 1e7 }, { width: 0.5, height: 10 }, { width: 10 }, null, [], {
      profile: "level0",
      width: 500,
      height: 500,
      tiles,
    }]
  ) {
    assert.equal(await opened(info), null);
    assert.deepEqual(await opened(info, HREF), { type: "image", url: HREF });
  }
});

Deno.test("tile sources: the description of a page that is left is canceled, and read again where it comes back", async () => {
  const signals: AbortSignal[] = [];
  const sources = new TileSources((_url, init) => {
    const signal = init!.signal!;
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const first = sources.of(sourceOf("a"));
  const second = sources.of(sourceOf("b"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  sources.cancelAllBut([sourceOf("b")]);
  assert.deepEqual(await first, { ok: false, problem: "unreachable" });
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, false]);
  void sources.of(sourceOf("a"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(signals.length, 3);
  sources.cancelAllBut([]);
  await second;
});
