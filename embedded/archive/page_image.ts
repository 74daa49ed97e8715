import { drawText } from "./handwriting.ts";
import { drawMap, drawSeal, drawStamp } from "./page_ornaments.ts";
import { type IndexedImage, PageCanvas } from "./page_canvas.ts";
import { linesOf, type PageLayout } from "./page_layout.ts";
import { drawPaper } from "./page_paper.ts";
import { INK, SEPIA } from "./palette.ts";
import { seededRandom } from "./seeded_random.ts";

/**
 * Draws a page at a size, in pixels, of the page's own proportions. `texture` seeds the paper and the ink, so equal
 * arguments give equal pixels. The cost follows from the size.
 */
export function drawPage(layout: PageLayout, texture: string, width: number, height: number): IndexedImage {
  const canvas = new PageCanvas(width, height, width / layout.width);
  const random = seededRandom("ink", texture);
  drawPaper(canvas, layout, seededRandom("paper", texture));
  for (const { x, y, width, height } of layout.rules) {
    canvas.stroke([{ x, y }, { x: x + width + random() * 3, y: y + height + random() * 3 }], 0.9, SEPIA, 0.7);
  }
  if (layout.map) drawMap(canvas, layout.map, seededRandom("map", texture));
  for (const line of linesOf(layout)) {
    let tone = 0.8 + random() * 0.2;
    for (const { text, penX, baseline, size, hyphen } of line.words) {
      // The pen is dipped now and then, and runs dry in between.
      tone = random() < 0.12 ? 0.95 + random() * 0.05 : Math.max(0.68, tone - random() * 0.035);
      drawText(canvas, hyphen ? `${text}-` : text, penX, baseline, size, INK, tone, random);
    }
  }
  if (layout.hasStamp) drawStamp(canvas, layout, seededRandom("stamp", texture));
  if (layout.hasSeal) drawSeal(canvas, layout, seededRandom("seal", texture));
  return canvas;
}
