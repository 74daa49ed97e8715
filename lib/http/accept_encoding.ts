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

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** The weights of the header's codings, in lower case; a malformed weight is 0, so that `*` does not speak for its coding. */
function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of header.split(",")) {
    const [coding, weight, ...rest] = element.split(";").map((part) => part.trim());
    if (coding === "") continue;
    const written = weight === undefined ? "1" : WEIGHT.exec(weight)?.[1];
    weights.set(coding.toLowerCase(), rest.length === 0 ? Number(written ?? 0) : 0);
  }
  return weights;
}
