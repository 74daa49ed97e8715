import { useMemo } from "preact/hooks";

import type { ConfidenceStep } from "@/lib/presentation/alto/confidence.ts";
import type { Box } from "@/lib/presentation/iiif/manifest.ts";
import type { TextLine } from "@/lib/presentation/viewer_text.ts";

/** Lines that one shape has. */
export const LINES_A_SHAPE = 500;

interface PageMarksProps {
  readonly lines: readonly TextLine[];
  /** Shapes of lines that are rendered, from the first on. */
  readonly shapes: number;
  /** Place of the line that is lit; null: none. */
  readonly lit: number | null;
  /** Places of what a search has found, as fractions of the page. */
  readonly hits: readonly Box[];
  /** The hit that the reader is at. */
  readonly currentHit: readonly Box[];
}

/** Marks on the image of a page: doubtful lines by confidence, the lit line, hits. Its extent is that of the page. */
export function PageMarks({ lines, shapes, lit, hits, currentHit }: PageMarksProps) {
  const litBox = lit === null ? null : lines[lit]?.box;
  return (
    <svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
      {Array.from({ length: shapes }, (_, place) => <Shape key={place} lines={lines} from={place * LINES_A_SHAPE} />)}
      {hits.map((box, place) => <rect key={`hit ${place}`} class="hit" {...inUnits(box)} />)}
      {currentHit.map((box, place) => <rect key={`current ${place}`} class="current-hit" {...inUnits(box)} />)}
      {litBox && <rect key="lit" class="lit" {...inUnits(litBox)} />}
    </svg>
  );
}

/** Some lines of a page: one path for each of the steps that are tinted, because elements for each line are many. */
function Shape({ lines, from }: { lines: readonly TextLine[]; from: number }) {
  return useMemo(() => {
    const own = lines.slice(from, from + LINES_A_SHAPE);
    return (["medium", "low"] as const).map((step) => {
      const path = pathOf(own, step);
      return path !== "" && <path key={step} class={step} d={path} />;
    });
  }, [lines, from]);
}

/** The rectangles of the lines of a step. */
function pathOf(lines: readonly TextLine[], wanted: ConfidenceStep): string {
  return lines.map(({ box, step }) => {
    if (box === null || step !== wanted) return "";
    const { x, y, width, height } = inUnits(box);
    return `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;
  }).join("");
}

/** A fraction is too coarse a unit for the browser, which rounds some lengths to whole ones. */
function inUnits({ x, y, width, height }: Box): Box {
  return { x: x * 1000, y: y * 1000, width: width * 1000, height: height * 1000 };
}
