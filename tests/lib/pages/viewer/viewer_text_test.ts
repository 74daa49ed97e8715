import assert from "node:assert/strict";

import { lineAt, textLines } from "@/lib/pages/viewer/viewer_text.ts";
import { altoPage } from "@/tests/lib/pages/alto/samples.ts";

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

Deno.test("viewer text: the line at a point is the smallest that has it", () => {
  const lines = linesOf("", [line(0, 0.9, 900) + line(90, 0.9)]);
  assert.equal(lineAt(lines, { x: 0.2, y: 0.15 }), 1);
  assert.equal(lineAt(lines, { x: 0.2, y: 0.5 }), 0);
  assert.equal(lineAt(lines, { x: 0.9, y: 0.5 }), null);
  assert.equal(lineAt([], { x: 0, y: 0 }), null);
});
