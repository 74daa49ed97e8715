import { deadline } from "./deadline.ts";
import { clientClosedRequest, requestTimeout } from "./errors.ts";
import { Pace, STREAM_BOUNDS, type TimeBounds } from "./time_bounds.ts";

/**
 * What is read at a time, bytes. The runtime takes as many off the connection for each read, but of a chunked body it
 * answers with no more than the rest of the present chunk (RFC 9112 §7.1) and keeps what it took beyond: with larger
 * reads, such a body would grow there without end while it comes in faster than it goes out.
 */
export const CHUNKED_READ_BYTES = 8 * 1024;
const READ_BYTES = 64 * 1024;

export interface BodySourceOptions {
  /** Whether the request said the body's length: it has no chunks then. */
  readonly measured?: boolean;
  /** How long the client may take; as for all streams when absent. */
  readonly bounds?: TimeBounds;
  /** How long the client may stay silent, ms; as in the bounds when absent. */
  readonly silenceMs?: number;
}

/** Bytes in the order they come. */
export interface BodySource {
  /**
   * The next bytes, at most `maxBytes` and at least one; null at the end. They stand in memory that the next read uses
   * again. @throws HttpError when the rest will not come
   */
  read(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Takes no more: what waits for bytes gets none. */
  stop(): void;
}

/**
 * A request's body as a source. It reads with a reader of its own, since a client that goes away in the middle of a
 * body must become an error of this request and of nothing else; and always into the same memory, since what the runtime
 * would take for each read is given back late.
 *
 * `read` throws HttpError 499 when the client is gone and 408 when it stays silent or is too slow.
 */
export function bodySource(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  { measured = false, bounds = STREAM_BOUNDS, silenceMs = bounds.idleMs }: BodySourceOptions = {},
): BodySource {
  const reader = body && pieceReader(body, measured ? READ_BYTES : CHUNKED_READ_BYTES);
  const pace = new Pace({ ...bounds, idleMs: silenceMs });
  let left: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  const next = async () => {
    if (!reader) return undefined;
    let silent = false;
    const from = performance.now();
    const heard = deadline(pace.patienceMs, () => {
      silent = true;
      reader.cancel();
    });
    try {
      const value = await reader.read();
      if (silent) throw requestTimeout();
      pace.took(value?.length ?? 0, performance.now() - from);
      return value;
    } catch (error) {
      throw silent ? requestTimeout() : clientClosedRequest(error);
    } finally {
      heard();
    }
  };
  return {
    async read(maxBytes) {
      while (left.length === 0) {
        const bytes = await next();
        if (!bytes) return null;
        left = bytes;
      }
      const taken = left.subarray(0, maxBytes);
      left = left.subarray(taken.length);
      return taken;
    },
    stop: () => reader?.cancel(),
  };
}

interface PieceReader {
  /** The next piece as it comes; undefined at the end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel(): void;
}

function pieceReader(body: ReadableStream<Uint8Array<ArrayBuffer>>, pieceBytes: number): PieceReader {
  const bytes = byteReader(body);
  if (!bytes) {
    const reader = body.getReader();
    return {
      read: async () => (await reader.read()).value,
      cancel: () => void reader.cancel().catch(() => {}),
    };
  }
  let memory = new Uint8Array(pieceBytes);
  return {
    async read() {
      const { done, value } = await bytes.read(memory);
      if (done) return undefined;
      // The memory has moved into the buffer of what was read.
      memory = new Uint8Array(value.buffer);
      return value;
    },
    cancel: () => void bytes.cancel().catch(() => {}),
  };
}

/** A reader into given memory; null for a stream of another kind, which a request's body is only within this process. */
function byteReader(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return null;
    throw error;
  }
}
