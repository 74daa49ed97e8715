import assert from "node:assert/strict";

import { confidenceStep } from "@/lib/presentation/alto/confidence.ts";
import { readAlto } from "@/lib/presentation/alto/read_alto.ts";
import { readingText } from "@/lib/presentation/alto/reading_text.ts";
import { ALTO_2, ALTO_3 } from "./samples.ts";

function textOf(xml: string): string {
  const reading = readAlto(xml);
  assert.ok(reading.ok);
  return readingText(reading.page);
}

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

Deno.test("confidence: three steps and unknown", () => {
  const steps = [1, 0.9, 0.8999, 0.7, 0.6999, 0, null].map(confidenceStep);
  assert.deepEqual(steps, ["high", "high", "medium", "medium", "low", "low", "unknown"]);
});
