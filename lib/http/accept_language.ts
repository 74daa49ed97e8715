import { readWeights } from "./weights.ts";

/** Characters of the header that are read: browsers send a few dozen. */
const MAX_CHARACTERS = 1000;

/**
 * The language that a client prefers (RFC 9110, section 12.5.4): a range such as `sv-FI` speaks for `sv`, and `*` for every
 * language that no range names. Of equally preferred ones the one that the header names first wins. Null: none is accepted.
 *
 * @param header the Accept-Language of the request
 * @param available primary language subtags in lower case
 */
export function preferredLanguage<Tag extends string>(header: string | null, available: readonly Tag[]): Tag | null {
  if (header === null) return null;
  const weights = new Map<string, number>();
  for (const [range, weight] of readWeights(header.slice(0, MAX_CHARACTERS))) {
    const language = range.split("-", 1)[0];
    weights.set(language, Math.max(weight, weights.get(language) ?? 0));
  }
  const named = [...weights.keys()];
  const rest = weights.get("*") ?? 0;
  const found = available.map((tag, place) => ({
    tag,
    weight: weights.get(tag) ?? rest,
    // Those that no range names come after those that one does.
    place: weights.has(tag) ? named.indexOf(tag) : named.length + place,
  })).filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight || a.place - b.place);
  return found[0]?.tag ?? null;
}
