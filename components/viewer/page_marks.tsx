import type { Box } from "@/lib/presentation/iiif/manifest.ts";
import type { TextLine } from "@/lib/presentation/viewer_text.ts";

interface PageMarksProps {
  readonly lines: readonly TextLine[];
  /** Place of the line that is lit; null: none. */
  readonly lit: number | null;
  /** Places of what a search has found, as fractions of the page. */
  readonly hits: readonly Box[];
  /** The hit that the reader is at. */
  readonly currentHit: readonly Box[];
  readonly onHover: (line: number | null) => void;
}

/** Marks on the image of a page: lines by confidence, the lit line, hits. Its extent is that of the page. */
export function PageMarks({ lines, lit, hits, currentHit, onHover }: PageMarksProps) {
  const litBox = lit === null ? null : lines[lit]?.box;
  return (
    <svg
      viewBox="0 0 1000 1000"
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerLeave={() => onHover(null)}
    >
      {lines.map(({ box, step }, place) =>
        box && <rect key={place} class={`line ${step}`} {...inUnits(box)} onPointerEnter={() => onHover(place)} />
      )}
      {hits.map((box, place) => <rect key={`hit ${place}`} class="hit" {...inUnits(box)} />)}
      {currentHit.map((box, place) => <rect key={`current ${place}`} class="current-hit" {...inUnits(box)} />)}
      {litBox && <rect key="lit" class="lit" {...inUnits(litBox)} />}
    </svg>
  );
}

/** A fraction is too coarse a unit for the browser, which rounds some lengths to whole ones. */
function inUnits({ x, y, width, height }: Box): Box {
  return { x: x * 1000, y: y * 1000, width: width * 1000, height: height * 1000 };
}
