import { BrokenStream, guardedStream, nextPiece } from "./guarded_stream.ts";
import type { RequestInfo } from "./request_info.ts";
import { Pace, STREAM_BOUNDS, type TimeBounds } from "./time_bounds.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * The body of an upstream's answer as a client gets it, bounded in time: when the upstream or the client takes too long,
 * both connections are broken off, so that nobody takes a part for the whole.
 *
 * A body of known length is handed on untouched, since looking at it would cost twice to three times the processor time;
 * the server breaks its connection off when the answer has not gone through in the time that its length allows. One of
 * unknown length, and all where the server has no hold on connections, are looked at piece by piece. Without a connection
 * (another role of this process asks) the asking role watches.
 */
export function handedBody(
  { body, headers }: Response,
  info: RequestInfo | undefined,
  bounds: TimeBounds = STREAM_BOUNDS,
): Body | null {
  if (!body || !info?.completed) return body;
  if (info.breakOff && headers.has("Content-Length") && !headers.has("Transfer-Encoding")) return body;
  return guardedBody(body, { bounds, unread: () => info.breakOff?.() });
}

export interface GuardedBodyOptions {
  readonly bounds?: TimeBounds;
  /** Is told why the upstream's body did not end well. */
  readonly broken?: (error: unknown) => void;
  /** Called when the reader takes nothing more. */
  readonly unread?: () => void;
}

/**
 * Hands a body on piece by piece. When it breaks off or stalls, the reader's stream breaks as well; a reader who leaves
 * ends the upstream's.
 */
export function guardedBody(body: Body, { bounds = STREAM_BOUNDS, broken, unread }: GuardedBodyOptions): Body {
  const reader = body.getReader();
  const pace = new Pace(bounds);
  return guardedStream(
    reader,
    () => nextPiece(reader, pace, (message) => new StalledBody(message)),
    (error) => {
      broken?.(error);
      return new BrokenStream("BrokenAnswer", "an answer broke off");
    },
    { idleMs: bounds.idleMs, unread },
  );
}

/** An upstream that keeps a connection open and sends nothing more. */
class StalledBody extends Error {
  override readonly name = "StalledBody";
}
