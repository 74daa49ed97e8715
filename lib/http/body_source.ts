import type { BodyReader } from "@/lib/std/body_reader.ts";
import { boundedReader, SlowBody } from "@/lib/std/bounded_reader.ts";
import { ChunksTooSmall } from "@/lib/runtime/burst_reader.ts";
import { bodyReader } from "@/lib/runtime/request_body.ts";
import type { TimeBounds } from "@/lib/std/time_bounds.ts";
import { badRequest, clientClosedRequest, type HttpError, requestTimeout } from "./errors.ts";

interface BodySourceOptions {
  /** What the request says of the body's length; null or absent: nothing, it comes in chunks. */
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

/** What a reader reads as a source. */
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
