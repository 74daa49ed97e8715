import { gzipSync } from "node:zlib";
import { preferredCoding } from "./header_values.ts";

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
