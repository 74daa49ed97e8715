import { fileNameParameters } from "@/lib/std/header_encoding.ts";
import { withoutTrailingSlash } from "@/lib/std/text.ts";

type Disposition = "attachment" | "inline";

/** A Content-Disposition header (RFC 6266) that names a file, as {@link fileNameParameters} does. */
export function contentDisposition(disposition: Disposition, filename: string): string {
  return disposition + fileNameParameters(filename);
}

/** The name under which a browser would save an object: the last segment of its key. */
export function fileNameOf(key: string): string {
  return withoutTrailingSlash(key).split("/").at(-1) || "object";
}

/**
 * Text as a header value: whatever a header cannot carry (control characters, all beyond printable ASCII) is
 * percent-encoded as UTF-8. `new Response` throws on such values, and names that come from stores may hold any.
 */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/gu, encodeURIComponent);
}

/**
 * 303 (RFC 9110, section 15.4.4): the browser requests a path of this origin with GET. No cache stores the response.
 *
 * @param cookies `Set-Cookie` values
 */
export function seeOther(path: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ "Cache-Control": "private, no-store", "Location": headerText(path) });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** The values of the cookies of a name, as they were sent, in their order. */
export function* cookieValues(headers: Headers, name: string): Generator<string> {
  for (const part of (headers.get("Cookie") ?? "").split(";")) {
    const cut = part.indexOf("=");
    if (cut >= 0 && part.slice(0, cut).trim() === name) yield part.slice(cut + 1).trim();
  }
}

/** The media type of a Content-Type, in lower case and without its parameters; "" without a header. */
export function mediaTypeOf(type: string | null): string {
  return (type ?? "").split(";", 1)[0].trim().toLowerCase();
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * The weights of what a header such as Accept-Encoding names (RFC 9110, section 12.4.2), in the header's order and in lower
 * case. A malformed q-value counts as 0; otherwise `*` would apply.
 */
function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of header.split(",")) {
    const [name, weight, ...rest] = element.split(";").map((part) => part.trim());
    if (name === "") continue;
    const written = weight === undefined ? "1" : WEIGHT.exec(weight)?.[1];
    weights.set(name.toLowerCase(), rest.length === 0 ? Number(written ?? 0) : 0);
  }
  return weights;
}

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
  // An identity body is acceptable by default, but preferred only if its weight is stated.
  return best !== null && (weights.get("identity") ?? 0) > weightOf(best) ? null : best;
}

/** Whether an Accept header names a media type; wildcards do not count. */
export function namesType(header: string | null, type: string): boolean {
  return (header ?? "").split(",").some((element) => mediaTypeOf(element) === type);
}

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
