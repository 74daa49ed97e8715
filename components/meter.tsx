import type { Tone } from "@/lib/presentation/campaign_state.ts";

interface MeterProps {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
  /** The colour of what is done. */
  readonly tone: Tone;
}

/** How far something is, as a bar. The figures stand beside it, so that it is not read out. */
export function Meter({ done, failed, total, tone }: MeterProps) {
  const part = (count: number) => total > 0 ? Math.max(0, Math.min(100, 100 * count / total)) : 0;
  const good = part(done);
  // A single failure among thousands is still seen.
  const bad = failed > 0 ? Math.max(1, part(failed)) : 0;
  return (
    <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="well" width="100" height="6" />
      <rect class={tone} width={Math.min(good, 100 - bad)} height="6" />
      <rect class="bad" x={Math.min(good, 100 - bad)} width={bad} height="6" />
    </svg>
  );
}
