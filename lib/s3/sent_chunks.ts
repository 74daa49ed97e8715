import { HttpError } from "@/lib/http/errors.ts";
import { deadline } from "@/lib/std/deadline.ts";
import { inBuffersMs, type TimeBounds, unreadMs } from "@/lib/std/time_bounds.ts";

interface SentChunksOptions {
  readonly lengthBytes: number;
  /** How long the store may take over the body; as for all streams when absent. */
  readonly bounds?: TimeBounds;
  /** How long the store may work before its answer begins, once it has the body, ms. */
  readonly workMs: number;
  /** The error for a store that takes no more of the body, or does not answer it. */
  readonly stalled: () => HttpError;
}

/** Chunks of this process on their way to a store. */
export interface SentChunks {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Aborts when the body has failed: a store that takes nothing does not notice its end. */
  readonly signal: AbortSignal;
  /** Why the body failed, on this side or the store's; null when it did not. */
  failure(): HttpError | null;
  /** Whether the connection was given all bytes. A store that confirms a body before has not stored it. */
  isWhole(): boolean;
  /** Called when there is an answer, or will be none. */
  over(): void;
}

/**
 * A stream of chunks whose memory is used again: the next chunk is requested when the connection has taken the one
 * before. The store has an idle timeout for each chunk, and one for its answer after the last.
 */
export function sentChunks(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  { lengthBytes, bounds, workMs, stalled }: SentChunksOptions,
): SentChunks {
  const stop = new AbortController();
  let failure: HttpError | null = null;
  let isOver = false;
  let givenBytes = 0;
  let clear = () => {};
  const fail = (error: unknown) => {
    if (isOver) return;
    if (error instanceof HttpError) failure ??= error;
    stop.abort();
  };
  const over = () => {
    isOver = true;
    clear();
  };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      clear();
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else {
          givenBytes += value.length;
          controller.enqueue(value);
        }
        const waitMs = done ? workMs + inBuffersMs(lengthBytes, bounds) : unreadMs(bounds);
        if (!isOver) clear = deadline(waitMs, () => fail(stalled()));
      } catch (error) {
        fail(error);
        controller.error(error);
      }
    },
    cancel() {
      over();
      // Does not wait: the chunk that is being read may not come.
      chunks.return(undefined).catch(() => {});
    },
  }, { highWaterMark: 0 });
  return { body, signal: stop.signal, failure: () => failure, isWhole: () => givenBytes === lengthBytes, over };
}
