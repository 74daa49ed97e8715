import type { IndexedImage } from "./page_canvas.ts";

/** Degrees, clockwise. */
export type Rotation = 0 | 90 | 180 | 270;

/** An image turned clockwise. */
export function rotated(image: IndexedImage, rotation: Rotation): IndexedImage {
  if (rotation === 0) return image;
  const { width, height, pixels } = image;
  if (rotation === 180) return { width, height, pixels: pixels.toReversed() };
  const turned = new Uint8Array(pixels.length);
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++, from++) {
      const to = rotation === 90 ? x * height + height - 1 - y : (width - 1 - x) * height + y;
      turned[to] = pixels[from];
    }
  }
  return { width: height, height: width, pixels: turned };
}
