import { gzipSync } from "node:zlib";
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

/** Smallest body for which compression saves packets. */
const MIN_COMPRESSED_BYTES = 1024;
/** Compression occupies the event loop: 4 MiB take about 15 ms, less than writing that much JSON. */
const MAX_COMPRESSED_BYTES = 4 * 1024 * 1024;
/** The lowest level makes JSON and HTML ten times smaller at 300 MB/s, the default one little smaller at 40. */
const LEVEL = 1;
/** Smallest body for which copying costs more than a stream. */
const MIN_STREAM_BYTES = 16 * 1024;

interface ResponseOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A response whose body is compressed by gzip where its client accepts that. A response to HEAD has the same headers.
 * The bytes must not change: where the same bytes are sent again, they are not compressed again.
 *
 * Not for a body that holds a secret: its compressed length would tell of it what an attacker guesses (BREACH).
 */
export function compressibleResponse(
  request: Request,
  body: Uint8Array<ArrayBuffer>,
  type: string,
  { status, headers }: ResponseOptions = {},
): Response {
  const compressed = preferredCoding(request.headers.get("Accept-Encoding"), ["gzip"]) && compressedForm(body);
  const sent = compressed ?? body;
  return new Response(request.method === "HEAD" ? null : sent.length >= MIN_STREAM_BYTES ? sharedBody(sent) : sent, {
    status,
    headers: {
      "Content-Type": type,
      "Content-Length": String(sent.length),
      ...(compressed && { "Content-Encoding": "gzip" }),
      "Vary": "Accept-Encoding",
      ...headers,
    },
  });
}

/** {@link compressibleResponse} of a value as JSON, with status 200. */
export function compressibleJson(request: Request, value: unknown): Response {
  return compressibleResponse(request, encoder.encode(JSON.stringify(value)), "application/json");
}

/**
 * Stored bytes as a body that shares them. A `Response` copies bytes that it is created from, though not those of a
 * stream: each list would have V8 collect half a megabyte, and each client that does not read would hold a copy. The
 * bytes must not change.
 */
export function sharedBody(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

const encoder = new TextEncoder();

/** Compressed forms of bodies, for as long as these are in use. */
const compressedForms = new WeakMap<Uint8Array, Uint8Array<ArrayBuffer>>();

/** A body compressed; null where that does not pay. */
function compressedForm(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null {
  if (body.length < MIN_COMPRESSED_BYTES || body.length > MAX_COMPRESSED_BYTES) return null;
  let form = compressedForms.get(body);
  if (!form) {
    form = new Uint8Array(gzipSync(body, { level: LEVEL }));
    compressedForms.set(body, form);
  }
  return form.length < body.length ? form : null;
}

/** So many characters are encoded at a time: encoding megabytes at once would delay every other request. */
const CHUNK_CHARACTERS = 32 * 1024;

/** A long JSON response that is encoded while it is computed. */
export class JsonBytes {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #text = "";

  /** Adds a piece of JSON. */
  text(json: string): void {
    this.#text += json;
    if (this.#text.length >= CHUNK_CHARACTERS) this.#encode();
  }

  /** Adds all of another one, which is not used afterwards. */
  append(other: JsonBytes): void {
    this.#encode();
    other.#encode();
    this.#chunks.push(...other.#chunks);
  }

  /** The response, with its length. */
  response(): Response {
    this.#encode();
    const chunks = this.#chunks.values();
    const length = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const { done, value } = chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { "Content-Type": "application/json", "Content-Length": String(length) } });
  }

  #encode(): void {
    if (this.#text !== "") this.#chunks.push(encoder.encode(this.#text));
    this.#text = "";
  }
}
