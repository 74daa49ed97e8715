import type { Chip as ChipData } from "@/lib/presentation/campaign_state.ts";

/** A state as a word in its colour. */
export function Chip({ text, tone, title, live }: ChipData) {
  return <span class={`chip ${tone}${live ? " live" : ""}`} title={title}>{text}</span>;
}
