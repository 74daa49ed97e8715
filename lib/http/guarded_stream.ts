import type { BodyReader } from "@/lib/std/body_reader.ts";
import { deadline } from "@/lib/std/deadline.ts";
import { STREAM_BOUNDS, type TimeBounds, unreadMs } from "@/lib/std/time_bounds.ts";

interface GuardOptions {
  /** Returns the error that the stream ends with, for what `read` threw. */
  readonly broken: (error: unknown) => BrokenStream;
  /** Called when the consumer reads nothing more, after the stream has failed: its connection must be ended. */
  readonly unread?: () => void;
  /** How long the consumer may take; as for all streams when absent. */
  readonly bounds?: TimeBounds;
}

/**
 * Passes a body on chunk by chunk, as its consumer reads. When `read` throws, the stream fails, so that a part is not
 * taken for the whole. When the consumer cancels, or reads nothing for too long, the reader is cancelled.
 */
export function guardedStream(
  reader: BodyReader,
  { broken, unread, bounds = STREAM_BOUNDS }: GuardOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const maxUnreadMs = unreadMs(bounds);
  let isOver = false;
  let release = () => {};
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      release();
      try {
        const chunk = await reader.read();
        if (isOver) return;
        if (chunk === null) return controller.close();
        controller.enqueue(chunk);
        release = deadline(maxUnreadMs, () => {
          isOver = true;
          controller.error(new BrokenStream("UnreadBody", "a body was not read"));
          reader.cancel();
          unread?.();
        });
      } catch (error) {
        if (isOver) return;
        controller.error(broken(error));
        reader.cancel();
      }
    },
    cancel() {
      isOver = true;
      release();
      reader.cancel();
    },
  }, { highWaterMark: 0 });
}

/** The error of a failed stream. The server prints it, so it says nothing about the upstream, on one line. */
export class BrokenStream extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
    this.stack = `${name}: ${message}`;
  }
}
