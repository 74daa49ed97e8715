import type { Box, Size } from "@/lib/pages/iiif/manifest.ts";
export type TextDirection = "ltr" | "rtl";

/** The position of something on the page. */
export interface AltoPlace {
  /**
   * In the page's unit, from its upper left corner: as the file gives it, else around the polygon, else around the boxes of
   * the elements in it; null: unknown.
   */
  readonly box: Box | null;
}

/** A `String`: a word, or the whole line where the recognition does not split lines. */
export interface AltoWord extends AltoPlace {
  readonly text: string;
  /** WC, 0 to 1; null where the file gives none. */
  readonly confidence: number | null;
  /** The first or second half of a word that a line break divides, with the whole word; null for other words. */
  readonly division: { readonly half: 1 | 2; readonly word: string } | null;
}

/** A `TextLine` with text. */
export interface AltoLine extends AltoPlace {
  /** The words with the spaces between them, and the hyphen at the end where the file gives one. */
  readonly text: string;
  /** Start position of each word in the text. */
  readonly starts: readonly number[];
  /** Base direction; null: that of the first strong letter. */
  readonly direction: TextDirection | null;
  /** Mean of the words' confidences, 0 to 1; null where no word has one. */
  readonly confidence: number | null;
  readonly words: readonly AltoWord[];
}

/** A `TextBlock`. */
export interface AltoBlock extends AltoPlace {
  readonly lines: readonly AltoLine[];
}

/** The unit of lengths: tenths of a millimetre, 1/1200 inch, or pixels, which are also assumed where none is given. */
export type AltoUnit = "pixel" | "mm10" | "inch1200";

/** A page of an ALTO file. */
export interface AltoPage {
  /** In {@linkcode unit}; null where the file gives none. Scale coordinates to the image by these, whatever the unit. */
  readonly width: number | null;
  readonly height: number | null;
  readonly unit: AltoUnit;
  /** The area of the page that is printed on; null where the file gives none. */
  readonly printSpace: Box | null;
  /** `Page/@PC`, the predicted quality, 0 to 1; null where the file gives none. */
  readonly confidence: number | null;
  /** In reading order; blocks without text lines are there too. */
  readonly blocks: readonly AltoBlock[];
}

/** Width and height in the same unit; null: not known. */
export interface Extent {
  readonly width: number | null;
  readonly height: number | null;
}

/**
 * The extent that the boxes of a page refer to, in the page's unit: the extent in the file. Without one, that of the canvas if
 * both are in pixels and the text fits on it, else the extent of print space and text.
 *
 * @returns null: not known
 */
export function extentOfPage(
  { width, height, unit, printSpace, blocks }: AltoPage,
  canvas: Extent,
): Size | null {
  if (width !== null && height !== null) return { width, height };
  const content = boxAround([printSpace, ...blocks.map(({ box }) => box)]);
  const reached = content && { width: content.x + content.width, height: content.y + content.height };
  if (unit === "pixel" && canvas.width !== null && canvas.height !== null) {
    const fits = reached === null || reached.width <= canvas.width && reached.height <= canvas.height;
    if (fits) return { width: canvas.width, height: canvas.height };
  }
  return printSpace !== null && reached !== null && reached.width > 0 && reached.height > 0 ? reached : null;
}

/** A box as fractions of the page's width and height; null where either is not known. */
export function fractionOf(box: Box | null, extent: Size | null): Box | null {
  if (box === null || extent === null) return null;
  const { width, height } = extent;
  return { x: box.x / width, y: box.y / height, width: box.width / width, height: box.height / height };
}

/** The rectangle around rectangles; null where there is none. */
export function boxAround(boxes: readonly (Box | null)[]): Box | null {
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
  for (const box of boxes) {
    if (box === null) continue;
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  return left > right ? null : { x: left, y: top, width: right - left, height: bottom - top };
}

/** How sure the recognition is, in steps; the surest first. */
export const CONFIDENCE_STEPS = ["high", "medium", "low", "unknown"] as const;
export type ConfidenceStep = (typeof CONFIDENCE_STEPS)[number];

const HIGH = 0.9;
const MEDIUM = 0.7;

/** @param confidence 0 to 1; null where the file gives none */
export function confidenceStep(confidence: number | null): ConfidenceStep {
  if (confidence === null) return "unknown";
  return confidence >= HIGH ? "high" : confidence >= MEDIUM ? "medium" : "low";
}
