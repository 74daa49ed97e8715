import type { IndexedImage } from "./page_canvas.ts";
import { nearestIndexes, paletteOf, type Tint } from "./palette.ts";

/** A part of an image, in its pixels. */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * A region of an image at another size. Each pixel has the index nearest to the mean colour of the pixels it stands for;
 * an enlarged image repeats its pixels.
 */
export function scaled(image: IndexedImage, region: Region, width: number, height: number, tint: Tint): IndexedImage {
  const pixels = new Uint8Array(width * height);
  if (width === region.width && height === region.height) {
    for (let y = 0; y < height; y++) {
      const from = (region.y + y) * image.width + region.x;
      pixels.set(image.pixels.subarray(from, from + width), y * width);
    }
    return { width, height, pixels };
  }
  const palette = paletteOf(tint, "color");
  const nearest = nearestIndexes(tint);
  const columns = edges(region.x, region.width, width);
  const rows = edges(region.y, region.height, height);
  for (let y = 0, to = 0; y < height; y++) {
    const bottom = Math.max(rows[y] + 1, rows[y + 1]);
    for (let x = 0; x < width; x++, to++) {
      const right = Math.max(columns[x] + 1, columns[x + 1]);
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let row = rows[y]; row < bottom; row++) {
        for (let at = row * image.width + columns[x], end = row * image.width + right; at < end; at++) {
          const colour = image.pixels[at] * 3;
          red += palette[colour];
          green += palette[colour + 1];
          blue += palette[colour + 2];
        }
      }
      const count = (bottom - rows[y]) * (right - columns[x]);
      pixels[to] = nearest[(red / count >> 3) << 10 | (green / count >> 3) << 5 | (blue / count >> 3)];
    }
  }
  return { width, height, pixels };
}

/** Where each of `count` equal parts of a length begins, with the end of the last. */
function edges(start: number, length: number, count: number): Int32Array {
  return Int32Array.from({ length: count + 1 }, (_, index) => start + Math.floor(index * length / count));
}
