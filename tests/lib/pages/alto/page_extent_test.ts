import assert from "node:assert/strict";

import { extentOfPage } from "@/lib/pages/alto/alto_page.ts";
import { altoPage } from "./samples.ts";

const CANVAS = { width: 600, height: 900 };
const UNKNOWN = { width: null, height: null };
const SPACE = `HPOS="10" VPOS="20" WIDTH="480" HEIGHT="780"`;

function pageOf(page: string, printSpace = "", unit = "pixel", right = 100) {
  const block = `<TextBlock HPOS="0" VPOS="0" WIDTH="${right}" HEIGHT="50"/>`;
  return altoPage(
    `<alto><Description><MeasurementUnit>${unit}</MeasurementUnit></Description><Layout><Page ${page}>` +
      `<PrintSpace ${printSpace}>${block}</PrintSpace></Page></Layout></alto>`,
  );
}

Deno.test("page extent: the file's own, else the canvas's where both count pixels, else that of the print space and the text", () => {
  const reached = { width: 490, height: 800 };
  const cases = [
    [pageOf(`WIDTH="1200" HEIGHT="1800"`, SPACE), CANVAS, { width: 1200, height: 1800 }],
    [pageOf("", SPACE), CANVAS, CANVAS],
    [pageOf(`WIDTH="1200"`), CANVAS, CANVAS],
    [pageOf("", SPACE, "mm10"), CANVAS, reached],
    [pageOf("", SPACE), { width: 300, height: 400 }, reached],
    [pageOf("", SPACE), UNKNOWN, reached],
    [pageOf("", SPACE, "mm10", 700), CANVAS, { width: 700, height: 800 }],
    [pageOf("", "", "inch1200"), CANVAS, null],
    [pageOf(""), UNKNOWN, null],
  ] as const;
  for (const [page, canvas, extent] of cases) assert.deepEqual(extentOfPage(page, canvas), extent);
});
