/** A duration in words: `12.3 s`, `1 min 5 s`, `1 h 43 min 38 s`; "" for what is no duration. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "";
  const tenths = Math.round(seconds * 10) / 10;
  if (tenths < 60) return `${tenths.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return `${hours > 0 ? `${hours} h ` : ""}${minutes} min ${whole % 60} s`;
}

/** How long ago something was, in its largest whole unit: `8 s ago`, `42 min ago`, `5 h ago`. */
export function formatAge(seconds: number): string {
  if (!Number.isFinite(seconds)) return "";
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s ago`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min ago` : `${Math.floor(whole / 3600)} h ago`;
}
