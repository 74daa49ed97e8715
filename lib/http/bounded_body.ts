import { FREES_WRITTEN_CHUNKS } from "@/lib/runtime/written_chunks.ts";
import { announcedLength, streamReader } from "@/lib/std/body_reader.ts";
import { boundedReader } from "@/lib/std/bounded_reader.ts";
import { STREAM_BOUNDS, type TimeBounds, UNWATCHED_BYTES } from "@/lib/std/time_bounds.ts";
import { BrokenStream, guardedStream } from "./guarded_stream.ts";
import type { RequestInfo } from "./request_context.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * The body of an upstream's response as a client gets it, bounded in time: when the upstream or the client takes too
 * long, both connections are broken off, so that a part is not taken for the whole.
 *
 * A short body of known length is passed on untouched where the server can break off its connection: it does that when
 * the response has not been sent in the time that its length allows. Without a connection the caller is another role of
 * this process, which watches the body itself.
 */
export function boundedBody(
  response: Response,
  info: RequestInfo | undefined,
  bounds: TimeBounds = STREAM_BOUNDS,
): Body | null {
  const { body } = response;
  if (!body || !info?.completed) return body;
  const lengthBytes = announcedLength(response);
  if (info.breakOff && lengthBytes !== null && lengthBytes <= UNWATCHED_BYTES) return body;
  return guardedBody(body, { bounds, unread: () => info.breakOff?.(), freesChunks: true });
}

/** Whether the memory of a chunk of a response may be freed with the next one: the runtime writes it to a connection. */
export function freesWrittenChunks(info: RequestInfo | undefined): boolean {
  return FREES_WRITTEN_CHUNKS && info?.completed !== undefined;
}

interface GuardedBodyOptions {
  readonly bounds?: TimeBounds;
  /** Called with the reason when the upstream's body fails. */
  readonly broken?: (error: unknown) => void;
  /** Called when the consumer reads nothing more. */
  readonly unread?: () => void;
  /** Whether the runtime writes the body to a connection, so that the memory of a chunk is freed with the next one. */
  readonly freesChunks?: boolean;
}

/**
 * Passes a body on chunk by chunk. When it fails or stalls, the consumer's stream fails as well; when the consumer
 * cancels, the upstream's body is cancelled.
 */
export function guardedBody(
  body: Body,
  { bounds = STREAM_BOUNDS, broken, unread, freesChunks = false }: GuardedBodyOptions,
): Body {
  return guardedStream(
    boundedReader(streamReader(body, { freesChunks: freesChunks && FREES_WRITTEN_CHUNKS }), { bounds }),
    {
      broken(error) {
        broken?.(error);
        return new BrokenStream("BrokenResponse", "a response broke off");
      },
      bounds,
      unread,
    },
  );
}
