import type { AltoPage, AltoWord } from "@/lib/presentation/alto/alto_page.ts";
import type { TextDirection } from "@/lib/presentation/alto/direction.ts";
import { type ConfidenceStep, confidenceStep } from "@/lib/presentation/alto/confidence.ts";
import { type Extent, extentOfPage } from "@/lib/presentation/alto/page_extent.ts";
import type { Box } from "@/lib/presentation/iiif/manifest.ts";

/** A line of a page's text as the viewer shows it beside the image. */
export interface TextLine {
  readonly text: string;
  /** The words of the text; a hyphen may follow the last. */
  readonly words: readonly Pick<AltoWord, "text">[];
  /** Where each word begins in the text. */
  readonly starts: readonly number[];
  /** Base direction; null: that of the first strong letter. */
  readonly direction: TextDirection | null;
  readonly step: ConfidenceStep;
  /** 0 to 1; null: not known. */
  readonly confidence: number | null;
  /** As fractions of the page's width and height; null: not known. */
  readonly box: Box | null;
  /** The line begins a block. */
  readonly isFirst: boolean;
}

/** The lines of a page in reading order over all blocks. */
export function textLines(page: AltoPage, canvas: Extent): readonly TextLine[] {
  const extent = extentOfPage(page, canvas);
  return page.blocks.flatMap(({ lines }) =>
    lines.map(({ text, words, starts, direction, confidence, box }, place) => ({
      text,
      words,
      starts,
      direction,
      confidence,
      step: confidenceStep(confidence),
      box: box && extent
        ? {
          x: box.x / extent.width,
          y: box.y / extent.height,
          width: box.width / extent.width,
          height: box.height / extent.height,
        }
        : null,
      isFirst: place === 0,
    }))
  );
}

/** The smallest line at a point of the page, by its place in the list; null: there is none. */
export function lineAt(
  lines: readonly TextLine[],
  { x, y }: { readonly x: number; readonly y: number },
): number | null {
  let found: number | null = null;
  let smallest = Infinity;
  for (const [place, { box }] of lines.entries()) {
    if (!box || x < box.x || x > box.x + box.width || y < box.y || y > box.y + box.height) continue;
    const area = box.width * box.height;
    if (area >= smallest) continue;
    smallest = area;
    found = place;
  }
  return found;
}
