import { useMemo } from "preact/hooks";

/** Lines in one part of the text; its height is reserved by the stylesheet until it is on screen. */
const LINES_A_PART = 100;

/** A long text in lines of equal height, of which a browser lays out only what is on screen. */
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
