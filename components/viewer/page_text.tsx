import { useMemo } from "preact/hooks";

import { type AltoBlock, type AltoLine, confidenceStep } from "@/lib/pages/alto/alto_page.ts";
import { confidenceWords } from "@/lib/pages/alto/page_text_sentences.ts";

/** Lines that a browser adds to the page within a moment. */
const LINES_A_BATCH = 60;

/** Consecutive lines of one block. */
interface LineGroup {
  readonly lines: AltoLine[];
  /** First lines of the block. */
  readonly isFirst: boolean;
}

/** Some lines of a page, of one block or of several. */
type LineBatch = readonly LineGroup[];

/** The lines of a page in batches that are added one after the other. */
export function lineBatches(blocks: readonly AltoBlock[]): readonly LineBatch[] {
  const batches: LineGroup[][] = [];
  let free = 0;
  for (const { lines } of blocks) {
    for (const [place, line] of lines.entries()) {
      const isFull = free === 0;
      if (isFull) {
        batches.push([]);
        free = LINES_A_BATCH;
      }
      const batch = batches[batches.length - 1];
      if (isFull || place === 0) batch.push({ lines: [], isFirst: place === 0 });
      batch[batch.length - 1].lines.push(line);
      free--;
    }
  }
  return batches;
}

/** Lines of a page's text, tinted by the confidence of their recognition. */
export function PageText({ batches }: { batches: readonly LineBatch[] }) {
  return (
    <div class="page-text">
      {batches.map((batch, place) => <Batch key={place} batch={batch} />)}
    </div>
  );
}

/** Memoized: a batch is not compared again while another one is added. */
function Batch({ batch }: { batch: LineBatch }) {
  return useMemo(() => <Lines batch={batch} />, [batch]);
}

function Lines({ batch }: { batch: LineBatch }) {
  return (
    <>
      {batch.map(({ lines, isFirst }, place) => (
        <p key={place} class={isFirst ? "block" : undefined}>
          {lines.map(({ text, direction, confidence }, place) => (
            <span key={place} class="text-line" dir={direction ?? "auto"}>
              <span class={confidenceStep(confidence)} title={confidenceWords(confidence)}>{text}</span>
              <span class="sr">, {confidenceWords(confidence)}</span>
            </span>
          ))}
        </p>
      ))}
    </>
  );
}

/** Lines in one part of the text; its height is reserved by the stylesheet until it is on screen. */
const LINES_A_PART = 100;

/** A long text in lines of equal height; a browser lays out only the visible ones. */
export function PrintedLines({ lines, label }: { lines: readonly string[]; label: string }) {
  const parts = useMemo(
    () =>
      Array.from(
        { length: Math.ceil(lines.length / LINES_A_PART) },
        (_, part) => lines.slice(part * LINES_A_PART, (part + 1) * LINES_A_PART),
      ),
    [lines],
  );
  return (
    <div class="printed" role="region" aria-label={label} tabIndex={0}>
      {parts.map((part, place) => (
        <pre key={place} class={part.length === LINES_A_PART ? "whole" : undefined}>{part.join("\n")}</pre>
      ))}
    </div>
  );
}
