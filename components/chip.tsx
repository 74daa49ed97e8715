import type { Chip as ChipData } from "@/lib/pages/campaigns/campaign_state.ts";

/** A state as a word in its colour. */
export function Chip({ text, tone, title, live, room }: ChipData) {
  const chip = <span class={`chip ${tone}${live ? " live" : ""}`} title={title}>{text}</span>;
  return room === undefined ? chip : <span class="chip-room" data-room={room}>{chip}</span>;
}

/**
 * The report of the cluster or the worker, after the sentence that explains it: for screen readers, and visible on devices
 * without hover. Empty if the sentence contains it.
 */
export function RawWords({ text }: { text: string | null }) {
  return text === null ? null : <span class="raw-words">{` (${text})`}</span>;
}

/** A button among rows or in the line above them. */
export function SmallButton({ label, onClick }: { label: string; onClick: () => void }) {
  return <button class="btn small" type="button" onClick={onClick}>{label}</button>;
}
