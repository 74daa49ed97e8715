/** A figure beside the most that it may be. */
export function atMost(figure: number, limit: number, unit = ""): [toReach: string, reached: string] {
  return [`≤ ${limit}${unit}`, figure <= limit ? "yes" : "NO"];
}

/** Several figures of which each has to hold. */
export function all(...verdicts: readonly (readonly [string, string])[]): [toReach: string, reached: string] {
  const missed = verdicts.filter(([, reached]) => reached !== "yes");
  return [
    verdicts.map(([toReach]) => toReach).join(", "),
    missed.length === 0 ? "yes" : `NO: ${missed.map(([toReach]) => toReach).join(", ")}`,
  ];
}

/** A ratio as a table shows it. */
export function times(ratio: number): string {
  return `${ratio.toFixed(2)} x`;
}
