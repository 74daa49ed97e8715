import assert from "node:assert/strict";

import { extentOfPage } from "@/lib/presentation/alto/alto_page.ts";
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

Deno.test("page extent: the file's own goes before all others", () => {
  const page = pageOf(`WIDTH="1200" HEIGHT="1800"`, SPACE);
  assert.deepEqual(extentOfPage(page, CANVAS), { width: 1200, height: 1800 });
});

Deno.test("page extent: without one it is the canvas's where both count pixels", () => {
  assert.deepEqual(extentOfPage(pageOf("", SPACE), CANVAS), CANVAS);
  assert.deepEqual(extentOfPage(pageOf(`WIDTH="1200"`), CANVAS), CANVAS);
});

Deno.test("page extent: of a text that is larger than the canvas, or in another unit, it reaches to the print space's edges", () => {
  assert.deepEqual(extentOfPage(pageOf("", SPACE, "mm10"), CANVAS), { width: 490, height: 800 });
  assert.deepEqual(extentOfPage(pageOf("", SPACE), { width: 300, height: 400 }), { width: 490, height: 800 });
  assert.deepEqual(extentOfPage(pageOf("", SPACE), UNKNOWN), { width: 490, height: 800 });
  assert.deepEqual(extentOfPage(pageOf("", SPACE, "mm10", 700), CANVAS), { width: 700, height: 800 });
});

Deno.test("page extent: where nothing says how large the page is, it is not known", () => {
  assert.equal(extentOfPage(pageOf("", "", "inch1200"), CANVAS), null);
  assert.equal(extentOfPage(pageOf(""), UNKNOWN), null);
});
