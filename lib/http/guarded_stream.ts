import { deadline } from "./deadline.ts";

/** Reads a body that comes from an upstream. */
export type PieceReader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/**
 * The next piece of a body, null at its end.
 *
 * @param stallMs longest wait for it
 * @param stalled what is thrown when it takes longer, told in words
 */
export async function nextPiece(
  reader: PieceReader,
  stallMs: number,
  stalled: (message: string) => Error,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const stall = Promise.withResolvers<never>();
  const heard = deadline(stallMs, () => stall.reject(stalled(`nothing for ${stallMs} ms`)));
  try {
    const { done, value } = await Promise.race([reader.read(), stall.promise]);
    return done ? null : value;
  } finally {
    heard();
  }
}

/**
 * Hands a body on piece by piece, as its reader wants them. When `next` throws, the stream breaks with what `broken`
 * makes of that, so that nobody takes a part for the whole; a reader who leaves ends the upstream's.
 */
export function guardedStream(
  reader: PieceReader,
  next: () => Promise<Uint8Array<ArrayBuffer> | null>,
  broken: (error: unknown) => BrokenStream,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = false;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const piece = await next();
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      } catch (error) {
        if (left) return;
        controller.error(broken(error));
        reader.cancel().catch(() => {});
      }
    },
    async cancel(reason) {
      left = true;
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
