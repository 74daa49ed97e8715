/** A share of sorted durations: 0.5 is the median. */
export function percentile(durations: readonly number[], share: number): number {
  const sorted = [...durations].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Milliseconds as a table shows them. */
export function ms(duration: number): string {
  return `${duration.toFixed(duration < 10 ? 2 : 1)} ms`;
}
