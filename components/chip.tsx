import type { Chip as ChipData } from "@/lib/presentation/campaign_state.ts";

/** A state as a word in its colour. */
export function Chip({ text, tone, title, live, room }: ChipData) {
  const chip = <span class={`chip ${tone}${live ? " live" : ""}`} title={title}>{text}</span>;
  return room === undefined ? chip : <span class="chip-room" data-room={room}>{chip}</span>;
}
