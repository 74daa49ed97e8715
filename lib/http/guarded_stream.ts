import { deadline } from "@/lib/std/deadline.ts";
import { type Pace, STREAM_BOUNDS, type TimeBounds, unreadMs } from "@/lib/std/time_bounds.ts";
import type { PieceReader } from "./piece_reader.ts";

/**
 * The next piece of a body, null at its end.
 *
 * @param pace of the body so far; it says how long the wait may be
 * @param stalled what is thrown when it takes longer, told in words
 */
export async function nextPiece(
  reader: PieceReader,
  pace: Pace,
  stalled: (message: string) => Error,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const { patienceMs } = pace;
  const from = performance.now();
  let isLate = false;
  const heard = deadline(patienceMs, () => {
    isLate = true;
    // Ends the read as well.
    reader.cancel().catch(() => {});
  });
  try {
    const { done, value } = await reader.read();
    if (!isLate) {
      if (done) return null;
      pace.took(value.length, performance.now() - from);
      return value;
    }
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    heard();
  }
  throw stalled(`nothing for ${Math.ceil(patienceMs)} ms`);
}

interface GuardOptions {
  /** Called when the stream's reader takes nothing more, after the stream was broken: what it holds is to be ended. */
  readonly unread?: () => void;
  /** How long the stream's reader may take; as for all streams when absent. */
  readonly bounds?: TimeBounds;
}

/**
 * Hands a body on piece by piece, as its reader wants them. When `next` throws, the stream breaks with what `broken`
 * makes of that, so that nobody takes a part for the whole; a reader who leaves, or takes nothing more, ends the
 * upstream's.
 */
export function guardedStream(
  reader: PieceReader,
  next: () => Promise<Uint8Array<ArrayBuffer> | null>,
  broken: (error: unknown) => BrokenStream,
  { unread, bounds = STREAM_BOUNDS }: GuardOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const patienceMs = unreadMs(bounds);
  let left = false;
  let taken = () => {};
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      taken();
      try {
        const piece = await next();
        if (left) return;
        if (piece === null) return controller.close();
        controller.enqueue(piece);
        taken = deadline(patienceMs, () => {
          left = true;
          controller.error(new BrokenStream("UnreadAnswer", "an answer was not read"));
          reader.cancel().catch(() => {});
          unread?.();
        });
      } catch (error) {
        if (left) return;
        controller.error(broken(error));
        reader.cancel().catch(() => {});
      }
    },
    async cancel(reason) {
      left = true;
      taken();
      await reader.cancel(reason).catch(() => {});
    },
  }, { highWaterMark: 0 });
}

/** What a reader's stream ends with. The server prints it, so it says nothing of the upstream's, on one line. */
export class BrokenStream extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
    this.stack = `${name}: ${message}`;
  }
}
