import { thumbnailOf } from "./image_service.ts";
import type { Canvas, Size } from "./manifest.ts";

type Shown = Pick<Canvas, "images" | "accompanying" | "placeholder">;

/**
 * What is shown in place of a canvas without an image: what accompanies it, such as the cover of a recording, else what
 * stands for it until it is played.
 *
 * @returns null for a canvas with an image, and where nothing stands for it
 */
export function standInOf({ images, accompanying, placeholder }: Shown): Canvas | null {
  if (images.length > 0) return null;
  return [accompanying, placeholder].find((canvas) => canvas !== null && canvas.images.length > 0) ?? null;
}

/**
 * The address of the image that is shown until that of the canvas is there; null where it has none.
 *
 * @param frame wanted extent in pixels
 */
export function imageBefore({ placeholder }: Pick<Canvas, "placeholder">, frame: Size): string | null {
  const source = placeholder?.images[0]?.choices[0].source;
  return source ? thumbnailOf(source, frame)?.href ?? null : null;
}
