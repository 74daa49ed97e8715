import type { Tone } from "@/lib/pages/campaigns/campaign_state.ts";

/** A part of a meter in the colour of its state. */
interface MeterPart {
  readonly count: number;
  readonly tone: Tone;
}

interface MeterProps {
  /** In order, left to right. */
  readonly parts: readonly MeterPart[];
  readonly total: number;
  /** Accessible name. Without it the meter is hidden from screen readers, because figures stand beside it. */
  readonly label?: string;
}

/** How far something is, as a bar of parts. A part is seen even where it is one of thousands. */
export function Meter({ parts, total, label }: MeterProps) {
  const bars = barsOf(parts, total);
  const spoken = label === undefined ? { "aria-hidden": true } as const : { role: "img", "aria-label": label } as const;
  return (
    <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" focusable="false" {...spoken}>
      <rect class="well" width="100" height="6" />
      {bars.map(({ tone, x, width }) => <rect key={tone} class={tone} x={x} width={width} height="6" />)}
    </svg>
  );
}

const FULL = 100;
const LEAST = 1;

function barsOf(parts: readonly MeterPart[], total: number): { tone: Tone; x: number; width: number }[] {
  if (total <= 0) return [];
  let x = 0;
  return parts.filter(({ count }) => count > 0).map(({ count, tone }, place, shown) => {
    const space = FULL - x - LEAST * (shown.length - 1 - place);
    const width = Math.max(0, Math.min(space, Math.max(LEAST, FULL * count / total)));
    const bar = { tone, x: round(x), width: round(width) };
    x += width;
    return bar;
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
