import type { AltoPage } from "./alto_page.ts";
import { boxAround } from "./geometry.ts";

/** Width and height in the same unit; null: not known. */
export interface Extent {
  readonly width: number | null;
  readonly height: number | null;
}

/**
 * What the boxes of a page are fractions of, in the page's unit: the extent that the file gives. Without one, it is the
 * canvas's where both count pixels and the text fits on it, otherwise what the print space and the text reach to.
 *
 * @returns null where nothing says how large the page is
 */
export function extentOfPage(
  { width, height, unit, printSpace, blocks }: AltoPage,
  canvas: Extent,
): { readonly width: number; readonly height: number } | null {
  if (width !== null && height !== null) return { width, height };
  const content = boxAround([printSpace, ...blocks.map(({ box }) => box)]);
  const reached = content && { width: content.x + content.width, height: content.y + content.height };
  if (unit === "pixel" && canvas.width !== null && canvas.height !== null) {
    const fits = reached === null || reached.width <= canvas.width && reached.height <= canvas.height;
    if (fits) return { width: canvas.width, height: canvas.height };
  }
  return printSpace !== null && reached !== null && reached.width > 0 && reached.height > 0 ? reached : null;
}
