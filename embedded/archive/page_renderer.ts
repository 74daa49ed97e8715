import { LRUCache } from "lru-cache";
import type { ImageRequest } from "./image_request.ts";
import { rotated } from "./image_rotation.ts";
import { scaled } from "./image_scaling.ts";
import { paletteJpeg } from "./jpeg.ts";
import type { IndexedImage } from "./page_canvas.ts";
import { drawPage } from "./page_image.ts";
import { layoutPage, PAGE_HEIGHT, PAGE_WIDTH } from "./page_layout.ts";
import { paletteOf, TINTS } from "./palette.ts";
import { palettePng } from "./png.ts";
import { pick, seededRandom } from "./seeded_random.ts";

/** Images of whole pages up to this width are drawn at their size; other images are derived from the page at full size. */
const THUMBNAIL_WIDTH = 200;
/** Pages at full size are cached up to this many bytes; each has 3.5 MB. */
const MAX_DRAWN_BYTES = 15 * 1024 * 1024;

/** An image to render. */
export interface RenderTask extends Omit<ImageRequest, "canonical"> {
  readonly seed: number;
  readonly volume: string;
  readonly page: number;
}

/** Draws pages and derives images from them; the pages drawn last stay in memory. */
export class PageRenderer {
  readonly #drawn = new LRUCache<string, IndexedImage>({
    maxSize: MAX_DRAWN_BYTES,
    sizeCalculation: ({ pixels }) => pixels.length,
  });

  /** The image as the bytes of a file. The same task gives the same bytes. */
  render(task: RenderTask): Uint8Array<ArrayBuffer> {
    const tint = pick(seededRandom("tint", task.seed, task.volume), TINTS);
    const upright = isThumbnail(task)
      ? draw(task, task.width, task.height)
      : scaled(this.#wholePage(task), task.region, task.width, task.height, tint);
    const image = rotated(upright, task.rotation);
    const palette = paletteOf(tint, task.quality);
    if (task.format === "jpg") return paletteJpeg(image, palette, task.quality !== "color");
    return palettePng(image.width, image.height, image.pixels, palette);
  }

  #wholePage(task: RenderTask): IndexedImage {
    const key = `${task.seed}/${task.volume}/${task.page}`;
    let image = this.#drawn.get(key);
    if (!image) {
      image = draw(task, PAGE_WIDTH, PAGE_HEIGHT);
      this.#drawn.set(key, image);
    }
    return image;
  }
}

function draw({ seed, volume, page }: RenderTask, width: number, height: number): IndexedImage {
  return drawPage(layoutPage(seed, volume, page), `${seed}/${volume}/${page}`, width, height);
}

/** Whether the image is small and shows the whole page undistorted. */
function isThumbnail({ region, width, height }: RenderTask): boolean {
  return region.width === PAGE_WIDTH && region.height === PAGE_HEIGHT && width <= THUMBNAIL_WIDTH &&
    Math.abs(height - PAGE_HEIGHT * width / PAGE_WIDTH) < 1;
}
