/**
 * A stream of numbers in [0, 1) that depends on its parts alone: equal parts, equal stream, on every machine.
 *
 * For sample data only; it keeps no secret.
 */
export function seededRandom(...parts: readonly (string | number)[]): () => number {
  let state = fingerprint(parts.join("\u0000"));
  // mulberry32, a public-domain generator with 32 bits of state.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** A whole number from `low` to `high`, both included. */
export function between(random: () => number, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** One element of a list that is not empty. */
export function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)];
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
