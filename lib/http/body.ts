import { bodyReader } from "@/lib/runtime/request_body.ts";
import {
  type BodyReader,
  BodyTooLong,
  boundedReader,
  ChunksTooSmall,
  readRequest,
  SHORT_BODY_MS,
  SlowBody,
  type TimeBounds,
} from "@/lib/std/body_reader.ts";
import { badRequest, clientClosedRequest, HttpError, invalid, payloadTooLarge, requestTimeout } from "./errors.ts";
import { mediaTypeOf } from "./header_values.ts";

/** Largest JSON body, bytes. */
const MAX_JSON_BYTES = 1024 * 1024;
/** Deepest nesting of a JSON body: far beyond every record, and shallow enough for whatever walks through it. */
const MAX_JSON_DEPTH = 64;
/** Largest form body, bytes. */
const MAX_FORM_BYTES = 16 * 1024;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * A JSON body whatever its content type says; undefined when there is none.
 *
 * @throws HttpError 413 above `limitBytes`, 422 when it is not JSON in UTF-8 or too deep, 408 when it takes over 30 s,
 *   499 when the client leaves
 */
export async function readJson(request: Request, limitBytes: number = MAX_JSON_BYTES): Promise<unknown> {
  return parseJson(await readBytes(request, limitBytes));
}

/** Whether a message says that its body is JSON. */
export function isJson(headers: Headers): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

/** A JSON body; undefined when it is empty. @throws HttpError 422 when it is not JSON in UTF-8 or too deep */
export function parseJson(bytes: Uint8Array<ArrayBuffer>): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = STRICT_UTF8.decode(bytes);
  } catch {
    throw notJson(0, "not UTF-8");
  }
  if (jsonDepth(text) > MAX_JSON_DEPTH) throw notJson(0, `nested deeper than ${MAX_JSON_DEPTH}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : "");
    throw notJson(position ? Number(position[1]) : text.length, "not JSON");
  }
}

/**
 * The text fields of a form, urlencoded or multipart; an empty field counts as absent, the last of repeated ones
 * counts, files are ignored. A body of another type has no fields.
 *
 * @throws HttpError 413 above {@link MAX_FORM_BYTES}, 400 when a multipart body is malformed, 408, 499
 */
export async function readForm(request: Request): Promise<Map<string, string>> {
  // Read now: the headers of a request cannot be read once its client has disconnected.
  const type = request.headers.get("Content-Type") ?? "";
  return await parseForm(await readBytes(request, MAX_FORM_BYTES), type);
}

/** The fields of a form, as {@link readForm} returns them. @throws HttpError 400 when a multipart body is malformed */
export async function parseForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of await formEntries(bytes, type)) {
    if (typeof value === "string" && value !== "") fields.set(name, value);
    else fields.delete(name);
  }
  return fields;
}

async function formEntries(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
): Promise<Iterable<[string, FormDataEntryValue]>> {
  const media = mediaTypeOf(type);
  if (media === "application/x-www-form-urlencoded") return new URLSearchParams(new TextDecoder().decode(bytes));
  if (media !== "multipart/form-data") return [];
  try {
    return await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  } catch {
    throw new HttpError(400, "body: malformed multipart form");
  }
}

/** A whole body of at most `limitBytes`. @throws HttpError 413 above that, 408 when it takes over `totalMs`, 499 */
export async function readBytes(
  request: Request,
  limitBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readRequest(request, { maxBytes: limitBytes, totalMs }, bodyReader);
  } catch (error) {
    throw error instanceof BodyTooLong ? payloadTooLarge(limitBytes) : unreadable(error);
  }
}

function notJson(offset: number, error: string): HttpError {
  return invalid([{ type: "json_invalid", loc: ["body", offset], msg: "JSON decode error", ctx: { error } }]);
}

/**
 * How deep the objects and lists of a JSON text lie in each other, counted without building them.
 * Brackets in strings do not count; what is no JSON gives some number.
 */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (inString) {
      if (character === BACKSLASH) i++;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (character === OPEN_LIST || character === OPEN_OBJECT) deepest = Math.max(deepest, ++depth);
    else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface BodySourceOptions {
  /** The length of the body by the request; null or absent: unknown, it comes in chunks. */
  readonly lengthBytes?: number | null;
  /** How long the client may take; as for all streams when absent. */
  readonly bounds?: TimeBounds;
}

/** Bytes in the order they come. */
export interface BodySource {
  /**
   * The next bytes, at most `maxBytes` and at least one; null at the end. They stand in memory that the next read uses
   * again. @throws HttpError when the rest will not come
   */
  read(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the reading: a pending read returns null. */
  stop(): void;
}

/**
 * A request's body as a source. It reads with a reader of its own, since a client that disconnects in the middle of a
 * body must become an error of this request and of nothing else.
 *
 * `read` throws HttpError 499 when the client has disconnected, 408 when it exceeds the idle timeout or is too slow, and 400 for chunks that
 * are too small.
 */
export function bodySource(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  { lengthBytes = null, bounds }: BodySourceOptions = {},
): BodySource {
  const reader = body && boundedReader(bodyReader(body, lengthBytes), { bounds });
  return readerSource({
    read: () => reader?.read().catch(broken) ?? Promise.resolve(null),
    cancel: () => reader?.cancel(),
  });
}

/** The bytes of a reader as a source. */
export function readerSource(reader: BodyReader): BodySource {
  let left: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  return {
    async read(maxBytes) {
      while (left.length === 0) {
        const bytes = await reader.read();
        if (!bytes) return null;
        left = bytes;
      }
      const taken = left.subarray(0, maxBytes);
      left = left.subarray(taken.length);
      return taken;
    },
    stop: () => reader.cancel(),
  };
}

/** The error for a body that cannot be read to its end. */
export function unreadable(cause: unknown): HttpError {
  if (cause instanceof SlowBody) return requestTimeout();
  return cause instanceof ChunksTooSmall ? badRequest(`body: ${cause.message}`) : clientClosedRequest(cause);
}

function broken(cause: unknown): never {
  throw unreadable(cause);
}
