import assert from "node:assert/strict";

import { confidenceStep } from "@/lib/pages/alto/alto_page.ts";
import { readingText } from "@/lib/pages/alto/line_text.ts";
import { ALTO_2, ALTO_3, altoPage } from "./samples.ts";

const textOf = (xml: string) => readingText(altoPage(xml));

Deno.test("reading text: a line each, blocks apart, divided words joined where they begin", () => {
  assert.equal(textOf(ALTO_2), "7\n\nÖdmjukt memorial\nd:o");
  assert.equal(textOf(ALTO_3), 'Namn & "ort"\n\n12 kr');
});

Deno.test("reading text: halves are joined across blocks, and stay where the other one is missing", () => {
  const half = (part: 1 | 2, content: string, word: string) =>
    `<TextLine><String CONTENT="${content}" SUBS_TYPE="HypPart${part}" SUBS_CONTENT="${word}"/>${
      part === 1 ? `<HYP CONTENT="-"/>` : ""
    }</TextLine>`;
  const page = (...blocks: string[]) =>
    `<alto>${blocks.map((lines) => `<TextBlock>${lines}</TextBlock>`).join("")}</alto>`;
  assert.equal(textOf(page(half(1, "ko", "konung"), "", half(2, "nung", "konung"))), "konung");
  assert.equal(textOf(page(half(1, "ko", "konung"))), "ko-");
  assert.equal(textOf(page(half(2, "nung", "konung"))), "nung");
  assert.equal(textOf(page(half(1, "ko", "konung") + half(2, "gar", "hagar"))), "ko-\ngar");
});

Deno.test("reading text: divided words keep the spaces and hyphens around them", () => {
  const half = (part: 1 | 2) => `SUBS_TYPE="HypPart${part}" SUBS_CONTENT="konung"`;
  const first = `<String CONTENT="En"/><SP/><String CONTENT="ko" ${half(1)}/><HYP CONTENT="-"/>`;
  const second = `<String CONTENT="nung" ${
    half(2)
  }/><String CONTENT=","/><SP/><String CONTENT="och"/><SP/><String CONTENT="drott"/><HYP/>`;
  assert.equal(
    textOf(`<alto><TextBlock><TextLine>${first}</TextLine><TextLine>${second}</TextLine></TextBlock></alto>`),
    "En konung\n, och drott-",
  );
});

Deno.test("reading text: a mark gives a line its stated direction where its first letter does not", () => {
  const line = (text: string, direction: string) =>
    `<TextLine BASEDIRECTION="${direction}"><String CONTENT="${text}"/></TextLine>`;
  const lines = [
    line("OCR שלום", "rtl"),
    line("(1) שלום.", "rtl"),
    line("12.", "rtl"),
    line("שלום OCR", "ltr"),
    line("12.", "ltr"),
  ];
  assert.equal(
    textOf(`<alto><TextBlock>${lines.join("")}</TextBlock></alto>`),
    "\u200fOCR שלום\n(1) שלום.\n\u200f12.\n\u200eשלום OCR\n12.",
  );
});

Deno.test("confidence: three steps and unknown", () => {
  const steps = [1, 0.9, 0.8999, 0.7, 0.6999, 0, null].map(confidenceStep);
  assert.deepEqual(steps, ["high", "high", "medium", "medium", "low", "low", "unknown"]);
});
