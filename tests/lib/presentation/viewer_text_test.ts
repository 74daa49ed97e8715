import assert from "node:assert/strict";

import { lineAt, textLines } from "@/lib/presentation/viewer_text.ts";
import { altoPage } from "@/tests/lib/presentation/alto/samples.ts";

const CANVAS = { width: 600, height: 900 };
const line = (y: number, wc: number, height = 90) =>
  `<TextLine HPOS="60" VPOS="${y}" WIDTH="300" HEIGHT="${height}"><String CONTENT="rad" WC="${wc}"/></TextLine>`;

function linesOf(page: string, blocks: readonly string[]) {
  const xml = blocks.map((block) => `<TextBlock>${block}</TextBlock>`).join("");
  return textLines(
    altoPage(`<alto><Layout><Page ${page}><PrintSpace>${xml}</PrintSpace></Page></Layout></alto>`),
    CANVAS,
  );
}

Deno.test("viewer text: boxes are fractions of the ALTO page, or of the canvas where the page has no extent", () => {
  const ofPage = linesOf(`WIDTH="1200" HEIGHT="1800"`, [line(180, 0.95), line(360, 0.5)]);
  assert.deepEqual(ofPage[0].box, { x: 0.05, y: 0.1, width: 0.25, height: 0.05 });
  assert.deepEqual(ofPage.map(({ isFirst, step }) => [isFirst, step]), [[true, "high"], [true, "low"]]);
  assert.deepEqual(linesOf("", [line(90, 0.8)])[0].box, { x: 0.1, y: 0.1, width: 0.5, height: 0.1 });
});

Deno.test("viewer text: the line at a point is the smallest that has it", () => {
  const lines = linesOf("", [line(0, 0.9, 900) + line(90, 0.9)]);
  assert.equal(lineAt(lines, { x: 0.2, y: 0.15 }), 1);
  assert.equal(lineAt(lines, { x: 0.2, y: 0.5 }), 0);
  assert.equal(lineAt(lines, { x: 0.9, y: 0.5 }), null);
  assert.equal(lineAt([], { x: 0, y: 0 }), null);
});
