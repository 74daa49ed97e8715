import type { TextDirection } from "./direction.ts";

/** A rectangle in the page's unit, from the page's upper left corner. */
export interface AltoBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface AltoPoint {
  readonly x: number;
  readonly y: number;
}

/** Where something lies on the page, as far as the file says so. */
export interface AltoPlace {
  readonly id: string | null;
  /** As the file gives it, else around the polygon, else around the boxes of what it contains; null: unknown. */
  readonly box: AltoBox | null;
  readonly polygon: readonly AltoPoint[] | null;
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
  /** Where each word begins in the text. */
  readonly starts: readonly number[];
  /** Base direction; null: that of the first strong letter. */
  readonly direction: TextDirection | null;
  /** Mean of the words' confidences, 0 to 1; null where no word has one. */
  readonly confidence: number | null;
  readonly words: readonly AltoWord[];
}

/** A `TextBlock`. */
export interface AltoBlock extends AltoPlace {
  /** Of the text within the block, degrees counterclockwise; the page's where the block gives none. */
  readonly rotation: number;
  readonly lines: readonly AltoLine[];
}

/** The unit of lengths: tenths of a millimetre, 1/1200 inch, or pixels, which are also assumed where none is given. */
export type AltoUnit = "pixel" | "mm10" | "inch1200";

/** What an ALTO file says of a page. */
export interface AltoPage {
  /** In {@linkcode unit}; null where the file gives none. Scale coordinates to the image by these, whatever the unit. */
  readonly width: number | null;
  readonly height: number | null;
  readonly unit: AltoUnit;
  /** The area of the page that is printed on; null where the file gives none. */
  readonly printSpace: AltoBox | null;
  /** `Page/@PC`, the predicted quality, 0 to 1; null where the file gives none. */
  readonly confidence: number | null;
  /** In reading order; blocks without text lines are there too. */
  readonly blocks: readonly AltoBlock[];
}
