import { bodyReader, FREES_WRITTEN_CHUNKS, markReadAhead, StreamOfLength } from "@/lib/runtime/http.ts";
import {
  type BodyReader,
  BodyTooLong,
  boundedReader,
  chunksReader,
  ChunksTooSmall,
  deadline,
  inBuffersMs,
  readRequest,
  registerCancel,
  SHORT_BODY_MS,
  SlowBody,
  STREAM_BOUNDS,
  streamReader,
  type TimeBounds,
} from "@/lib/std/body_reader.ts";
import { badRequest, clientClosedRequest, HttpError, invalid, payloadTooLarge, requestTimeout } from "./errors.ts";
import { mediaTypeOf } from "./header_values.ts";
import { guardedStream } from "./upstream.ts";

/** Largest JSON body, bytes. */
const MAX_JSON_BYTES = 1024 * 1024;
/** Deepest nesting of a JSON body: far beyond every record, and shallow enough for recursive functions. */
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
 * Brackets in strings do not count. Invalid JSON returns any number.
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
  /** The Content-Length; null or absent: unknown, the body is chunked. */
  readonly lengthBytes?: number | null;
  /** Time limits for the client; {@link STREAM_BOUNDS} when absent. */
  readonly bounds?: TimeBounds;
}

/** Bytes in the order they come. */
export interface BodySource {
  /**
   * The next bytes, at most `maxBytes` and at least one; null at the end. The next read reuses their memory.
   * @throws HttpError when the body breaks off
   */
  read(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the reading: a pending read returns null. */
  stop(): void;
}

/**
 * A request's body as a source. A client that disconnects in the middle of a body must become an error of this request
 * only.
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
function unreadable(cause: unknown): HttpError {
  if (cause instanceof SlowBody) return requestTimeout();
  return cause instanceof ChunksTooSmall ? badRequest(`body: ${cause.message}`) : clientClosedRequest(cause);
}

function broken(cause: unknown): never {
  throw unreadable(cause);
}

/** Largest chunk, bytes: larger ones are little cheaper, and each connection keeps a buffer of that size. */
const MAX_CHUNK_BYTES = 256 * 1024;

type Chunks = AsyncGenerator<Uint8Array<ArrayBuffer>>;

interface WatchedUploadOptions {
  readonly lengthBytes: number;
  /** How long the client and the upstream may take over the body; those of all streams when absent. */
  readonly bounds?: TimeBounds;
  /** Time for the upstream to respond once it has the body, ms. */
  readonly workMs: number;
  /** The error for an upstream that reads no more of the body, or does not respond to it. */
  readonly stalled: () => HttpError;
}

/** A body on its way to an upstream. */
export interface WatchedUpload {
  readonly body: StreamOfLength;
  /** Aborts when the upload has failed, since an upstream that reads nothing does not notice the end of its body. */
  readonly signal: AbortSignal;
  /** The error of the body or of `stalled`; null if the upload has not failed. */
  failure(): HttpError | null;
  /** Whether the connection has accepted all bytes. An upstream that confirms a body earlier has not stored it. */
  isWhole(): boolean;
  /** Ends the watch: the request has ended. */
  release(): void;
}

/**
 * Passes a body on with its length. The upstream must read it within the idle timeout and at the minimum rate, and
 * respond in time after the last byte.
 *
 * @param body a request's body, whose client is watched likewise (408, 499), or chunks of this process, each of which
 *   may use the memory of the one before: the next is requested when the connection has taken it
 */
export function watchedUpload(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | Chunks,
  { lengthBytes, bounds = STREAM_BOUNDS, workMs, stalled }: WatchedUploadOptions,
): WatchedUpload {
  const reader = body instanceof ReadableStream ? clientReader(body, bounds) : chunksReader(body);
  const stop = new AbortController();
  let failure: HttpError | null = null;
  let isOver = false;
  let readBytes = 0;
  let release = () => {};
  const fail = (error: HttpError) => {
    if (isOver) return;
    isOver = true;
    failure = error;
    stop.abort();
  };
  const watched = {
    async read() {
      const chunk = await reader.read();
      if (chunk) readBytes += chunk.length;
      else if (!isOver) release = deadline(workMs + inBuffersMs(lengthBytes, bounds), () => fail(stalled()));
      return chunk;
    },
    cancel: () => reader.cancel(),
  };
  const stream = guardedStream(watched, {
    what: "an upload",
    broken: (error) => fail(error instanceof HttpError ? error : unreadable(error)),
    bounds,
    unread: () => fail(stalled()),
  });
  return {
    body: new StreamOfLength(stream, lengthBytes),
    signal: stop.signal,
    failure: () => failure,
    isWhole: () => readBytes === lengthBytes,
    release() {
      isOver = true;
      release();
    },
  };
}

/** Reads a request's body. A chunk is valid until the next is read. */
function clientReader(body: ReadableStream<Uint8Array<ArrayBuffer>>, bounds: TimeBounds): BodyReader {
  const reader = streamReader(body, { mostBytes: MAX_CHUNK_BYTES, freesChunks: FREES_WRITTEN_CHUNKS });
  registerCancel(body, () => reader.cancel());
  markReadAhead(body);
  return boundedReader(reader, { bounds });
}
