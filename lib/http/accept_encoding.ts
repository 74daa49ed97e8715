import { readWeights } from "./weights.ts";

/** The content codings that we write, by their registered names (RFC 9110, section 8.4.1), the best first. */
export const CODINGS = ["br", "gzip"] as const;
export type Coding = typeof CODINGS[number];

/**
 * The coding that a client prefers (RFC 9110, section 12.5.3); null: the body as it is.
 *
 * @param header the Accept-Encoding of the request
 * @param available the codings to choose from; of equally preferred ones the first wins
 */
export function preferredCoding(header: string | null, available: readonly Coding[]): Coding | null {
  if (header === null) return null;
  const weights = readWeights(header);
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get("*") ?? 0;
  let best: Coding | null = null;
  for (const coding of available) {
    if (weightOf(coding) > (best === null ? 0 : weightOf(best))) best = coding;
  }
  // A body without coding is acceptable without being named, but preferred only where its weight is written.
  return best !== null && (weights.get("identity") ?? 0) > weightOf(best) ? null : best;
}
