import { LRUCache } from "lru-cache";
import type OpenSeadragon from "openseadragon";

import { fetchText, securedAddress } from "@/lib/pages/browser/fetch_text_client.ts";
import { CancelableReads } from "@/lib/pages/browser/read_queue_client.ts";
import type { FetchProblem } from "@/lib/pages/fetch_problems.ts";
import { imageServiceOf, wholeImageOf } from "@/lib/pages/iiif/image_service.ts";
import type { ImageService, ImageSource, Size, TileSet } from "@/lib/pages/iiif/manifest.ts";
import { isObject, parsedJson } from "@/lib/std/untrusted.ts";

/** Largest description of an image that is read, bytes. */
const MAX_INFO_BYTES = 512 * 1024;
/** Descriptions that are cached. */
const MAX_CACHED = 100;
/** Descriptions that are read at a time. */
const MAX_READS = 4;
/** Largest width and height of an image that is shown in tiles, pixels: the count of tiles grows with them. */
const MAX_SIDE = 200_000;
/** Smaller tiles would be too many for one view. */
const MIN_TILE = 64;
/** Most tiles of the whole image where it is smallest: all of them are requested at once. */
const MAX_FIRST_TILES = 1000;

/** Options of an OpenSeadragon tile source: a service description, or one image file. */
type TileSource = Readonly<Record<string, unknown>>;

export type TileSourceAnswer =
  | { readonly ok: true; readonly source: TileSource; readonly width: number | null; readonly height: number | null }
  | { readonly ok: false; readonly problem: FetchProblem };

/** Reads the descriptions of image services, each once. */
export class TileSources {
  readonly #fetch: typeof fetch;
  readonly #reads = new CancelableReads(MAX_READS);
  /** Keyed by the service's address. */
  readonly #infos = new LRUCache<string, Promise<TileSourceAnswer>>({ max: MAX_CACHED });

  constructor(request: typeof fetch) {
    this.#fetch = request;
  }

  /**
   * The tile source of an image: its service, or its file if it has no service or an unreadable one. Never rejects.
   *
   * @param urgent the image is shown now
   */
  async of({ service, href, width, height }: ImageSource, urgent = true): Promise<TileSourceAnswer> {
    const file = href === null ? null : fileSource(href, width, height);
    if (service === null) return file ?? { ok: false, problem: 404 };
    const info = await this.#info(service, urgent);
    return info.ok && (info.source.type !== "image" || file === null) ? info : file ?? info;
  }

  /** Cancels the reading of all descriptions but those of some images. */
  cancelAllBut(sources: readonly ImageSource[]): void {
    const ids = new Set(sources.flatMap(({ service }) => service === null ? [] : [service.id]));
    for (const id of this.#reads.cancelAllBut(ids)) this.#infos.delete(id);
  }

  #info(service: ImageService, urgent: boolean): Promise<TileSourceAnswer> {
    const cached = this.#infos.get(service.id);
    if (cached) return cached;
    const info = this.#reads.run(service.id, urgent, (signal) => this.#read(service, signal))
      .catch((): TileSourceAnswer => ({ ok: false, problem: "unreachable" }));
    this.#infos.set(service.id, info);
    // A failure may pass, so the next reading tries again.
    void info.then(({ ok }) => !ok && this.#infos.peek(service.id) === info && this.#infos.delete(service.id));
    return info;
  }

  async #read(service: ImageService, signal: AbortSignal): Promise<TileSourceAnswer> {
    const fetched = await fetchText(`${service.id}/info.json`, {
      fetch: this.#fetch,
      maxBytes: MAX_INFO_BYTES,
      signal,
    });
    return fetched.ok ? readInfo(fetched.text, { ...service, id: securedAddress(service.id) }) : fetched;
  }
}

function fileSource(href: string, width: number | null, height: number | null): TileSourceAnswer {
  return { ok: true, source: { type: "image", url: securedAddress(href) }, width, height };
}

/**
 * A description as OpenSeadragon takes it. It copies every member into its own object, so only those that were checked
 * are passed on, under the address by which the description was found.
 */
function readInfo(text: string, { id, version: expected }: ImageService): TileSourceAnswer {
  const parsed = parsedJson(text);
  const json = isObject(parsed) ? parsed : {};
  const reading = { base: id, languages: [] };
  // A manifest may name a service by a level alone; the description knows its version.
  const version = json["@context"] === undefined
    ? expected
    : imageServiceOf({ ...json, id }, reading)?.version ?? expected;
  const info = imageServiceOf({ ...json, id, type: `ImageService${version}` }, reading);
  const whole = { width: info?.width ?? 0, height: info?.height ?? 0 };
  if (!info || !isExtent(whole)) return { ok: false, problem: "unreachable" };
  const { width, height } = whole;
  const level = info.level ?? 1;
  if (level === 0 && info.tiles.length === 0 && info.sizes.length === 0) {
    const file = wholeImageOf({ href: null, format: null, width, height, service: info });
    return file ? fileSource(file.href, width, height) : { ok: false, problem: "unreachable" };
  }
  const tiles = tilesOf(info.tiles, whole) ?? (level === 0 ? [] : [usualTiles(whole, info)]);
  const sizes = info.sizes.filter(isExtent);
  if (tiles.length === 0 && sizes.length === 0) return { ok: false, problem: "unreachable" };
  const formats: unknown = json.preferredFormats;
  return {
    ok: true,
    width,
    height,
    source: {
      "@context": `http://iiif.io/api/image/${version}/context.json`,
      protocol: "http://iiif.io/api/image",
      "@id": id,
      // Before version 3, only level 2 has sizes other than `w,`. OpenSeadragon writes that form for level 0.
      profile: profileOf(version, version < 3 && level < 2 && tiles.length > 0 ? 0 : level),
      width,
      height,
      ...((tiles.length === 0 || isHalving(sizes, whole)) && { sizes }),
      ...(tiles.length > 0 && { tiles }),
      ...(Array.isArray(formats) && { preferredFormats: formats.filter((format) => typeof format === "string") }),
    },
  };
}

const isExtent = ({ width, height }: Size) =>
  [width, height].every((side) => Number.isInteger(side) && side >= 1 && side <= MAX_SIDE);

/** The listed tiles, as far as OpenSeadragon can show the image with few of them at first; null: it cannot. */
function tilesOf(listed: readonly TileSet[], whole: Size): readonly TileSet[] | null {
  const sets = listed.flatMap(({ width, height, scaleFactors }) => {
    const isTile = [width, height].every((side) => Number.isInteger(side) && side >= MIN_TILE);
    // OpenSeadragon has a level for each power of two and none besides.
    const factors = scaleFactors.filter((factor) => Number.isInteger(Math.log2(factor)) && factor >= 1);
    if (!isTile) return [];
    return { width, height, scaleFactors: factors.length > 0 ? factors : factorsOf(whole, { width, height }) };
  });
  return [sets, ...sets.map((set) => [set])].find((some) => isUsable(some, whole)) ?? null;
}

function isUsable(sets: readonly TileSet[], whole: Size): boolean {
  const factors = new Set(sets.flatMap(({ scaleFactors }) => scaleFactors));
  const top = Math.max(0, ...factors);
  const first = sets.find(({ scaleFactors }) => scaleFactors.includes(top));
  if (!first) return false;
  // Among several sets, a level that is in none would have tiles without an extent, thus without end.
  if (sets.length > 1 && factors.size <= Math.log2(top)) return false;
  const across = Math.ceil(whole.width / top / first.width);
  return across * Math.ceil(whole.height / top / first.height) <= MAX_FIRST_TILES;
}

/**
 * Tiles that every service from level 1 on gives, no larger than its limits. OpenSeadragon's own would be as small as the
 * image's short side.
 */
function usualTiles(whole: Size, { maxWidth, maxHeight, maxArea }: ImageService): TileSet {
  const usual = Math.min(whole.width, whole.height) < 1024 ? 512 : 1024;
  const most = Math.min(maxWidth ?? usual, maxHeight ?? usual, Math.sqrt(maxArea ?? usual ** 2));
  const side = Math.max(MIN_TILE, Math.min(usual, 2 ** Math.floor(Math.log2(most))));
  const tile = { width: side, height: side };
  return { ...tile, scaleFactors: factorsOf(whole, tile) };
}

/** Powers of two until the image fits one tile. */
function factorsOf(whole: Size, tile: Size): number[] {
  const factors = [1];
  for (let factor = 1; whole.width > tile.width * factor || whole.height > tile.height * factor;) {
    factors.push(factor *= 2);
  }
  return factors;
}

/** Whether sizes halve the image step by step. OpenSeadragon takes others for its levels unseen where their count fits. */
function isHalving(sizes: readonly Size[], whole: Size): boolean {
  const falling = [...sizes].sort((a, b) => b.width - a.width);
  if (falling.length === 0) return false;
  const first = falling[0].width < whole.width ? 1 : 0;
  return falling.every(({ width, height }, at) =>
    Math.round(whole.width / width) === 2 ** (at + first) && Math.round(whole.height / height) === 2 ** (at + first)
  );
}

function profileOf(version: ImageService["version"], level: number): string | readonly string[] {
  switch (version) {
    case 1:
      return `http://library.stanford.edu/iiif/image-api/1.1/compliance.html#level${level}`;
    case 2:
      return [`http://iiif.io/api/image/2/level${level}.json`];
    case 3:
      return `level${level}`;
  }
}

/** Tiles that are requested before they are shown. */
const MAX_TILES = 32;
/** Pixels of an image for each pixel of the screen, at most: the image library shows the level with the most below it. */
const MAX_DENSITY = 2;

/** An image that will be shown. */
interface ComingImage {
  readonly answer: TileSourceAnswer;
  /** px on the screen. */
  readonly width: number;
}

/** Requests the tiles of images that are shown next, so that the browser has them in its cache. */
export class TilePreloads {
  readonly #osd: typeof OpenSeadragon;
  #images: HTMLImageElement[] = [];

  constructor(osd: typeof OpenSeadragon) {
    this.#osd = osd;
  }

  /** Requests the tiles of some images, and no longer those of others. */
  load(images: readonly ComingImage[]): void {
    this.cancel();
    const urls = images.flatMap((image) => tileUrls(this.#osd, image)).slice(0, MAX_TILES);
    this.#images = urls.map((url) => {
      const image = new Image();
      image.fetchPriority = "low";
      image.src = url;
      return image;
    });
  }

  /** Cancels what has not arrived. */
  cancel(): void {
    for (const image of this.#images) if (!image.complete) image.src = "";
    this.#images = [];
  }
}

/** Addresses of the tiles of a whole image as it is shown at a width, the smallest level first. */
function tileUrls(osd: typeof OpenSeadragon, { answer, width }: ComingImage): string[] {
  if (!answer.ok) return [];
  const { source } = answer;
  if (typeof source.url === "string") return [source.url];
  const options = osd.IIIFTileSource.prototype.configure(structuredClone(source), "", "");
  const tiles = new osd.IIIFTileSource(options as OpenSeadragon.TileSourceOptions);
  const urls: string[] = [];
  for (let level = tiles.minLevel; level <= tiles.maxLevel; level++) {
    const isShown = tiles.dimensions.x * tiles.getLevelScale(level) <= width * MAX_DENSITY;
    if (level > tiles.minLevel && !isShown) break;
    const { x: columns, y: rows } = tiles.getNumTiles(level);
    if (urls.length + columns * rows > MAX_TILES) break;
    for (let at = 0; at < columns * rows; at++) {
      urls.push(String(tiles.getTileUrl(level, at % columns, Math.floor(at / columns))));
    }
  }
  return urls;
}
