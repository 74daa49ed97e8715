import type OpenSeadragon from "openseadragon";

import type { TileSourceAnswer } from "./tile_sources.ts";

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
