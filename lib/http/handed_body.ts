import { announcedLength } from "@/lib/std/body_reader.ts";
import { Pace, STREAM_BOUNDS, type TimeBounds, UNWATCHED_BYTES } from "@/lib/std/time_bounds.ts";
import { BrokenStream, guardedStream, nextPiece } from "./guarded_stream.ts";
import { growingReader } from "./piece_reader.ts";
import type { RequestInfo } from "./request_info.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** What is read of a body at a time at most, bytes: the runtime's client has about as much at once. */
const MOST_PIECE_BYTES = 512 * 1024;

/**
 * The body of an upstream's answer as a client gets it, bounded in time: when the upstream or the client takes too long,
 * both connections are broken off, so that nobody takes a part for the whole.
 *
 * A short body of known length is handed on untouched, where the server has a hold on its connection: it breaks that off
 * when the answer has not gone through in the time that its length allows. Without a connection (another role of this
 * process asks) the asking role watches.
 */
export function handedBody(
  response: Response,
  info: RequestInfo | undefined,
  bounds: TimeBounds = STREAM_BOUNDS,
): Body | null {
  const { body, headers } = response;
  if (!body || !info?.completed) return body;
  const lengthBytes = headers.has("Transfer-Encoding") ? null : announcedLength(response);
  if (info.breakOff && lengthBytes !== null && lengthBytes <= UNWATCHED_BYTES) return body;
  return guardedBody(body, { bounds, unread: () => info.breakOff?.(), freesPieces: true });
}

interface GuardedBodyOptions {
  readonly bounds?: TimeBounds;
  /** Is told why the upstream's body did not end well. */
  readonly broken?: (error: unknown) => void;
  /** Called when the reader takes nothing more. */
  readonly unread?: () => void;
  /** Whether the runtime writes the body to a connection, so that the memory of a piece is freed with the next one. */
  readonly freesPieces?: boolean;
}

/**
 * Hands a body on piece by piece. When it breaks off or stalls, the reader's stream breaks as well; a reader who leaves
 * ends the upstream's.
 */
export function guardedBody(
  body: Body,
  { bounds = STREAM_BOUNDS, broken, unread, freesPieces = false }: GuardedBodyOptions,
): Body {
  const reader = growingReader(body, MOST_PIECE_BYTES, freesPieces);
  const pace = new Pace(bounds);
  return guardedStream(
    reader,
    () => nextPiece(reader, pace, (message) => new StalledBody(message)),
    (error) => {
      broken?.(error);
      return new BrokenStream("BrokenAnswer", "an answer broke off");
    },
    { bounds, unread },
  );
}

/** An upstream that keeps a connection open and sends nothing more. */
class StalledBody extends Error {
  override readonly name = "StalledBody";
}
