import { byteReader } from "@/lib/std/body_reader.ts";

/** Reads a body piece by piece, each in memory of its own. */
export interface PieceReader {
  read(): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>>;
  /** Takes no more: who waits for a piece gets none. */
  cancel(reason?: unknown): Promise<void>;
}

/** What is asked for first, bytes. A slow sender brings less, and memory of a piece is zeroed whole. */
const FIRST_BYTES = 16 * 1024;

/**
 * Reads in pieces that are as large as the sender is fast: twice as large where they come full, half where they come
 * nearly empty. Large ones cost less for each byte, small ones hold no memory that is not needed.
 *
 * @param mostBytes of a piece
 * @param freesPieces detaches the memory of each piece when the next is read, which frees it as soon as the runtime has
 *   written it. Left to the garbage collector, the memory of a long body makes V8 collect the whole heap again and
 *   again, which costs more than all the rest. Only for a reader that is done with a piece when it reads the next, as
 *   the runtime is with the body of a response or of a request: what it writes has a reference to the memory of its own.
 */
export function growingReader(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  mostBytes: number,
  freesPieces: boolean,
): PieceReader {
  const reader = byteReader(body);
  if (!reader) return body.getReader();
  let bytes = FIRST_BYTES;
  let last: ArrayBuffer | null = null;
  return {
    async read() {
      last?.transfer(0);
      last = null;
      const { done, value } = await reader.read(new Uint8Array(bytes));
      if (done) return { done, value: undefined };
      if (value.length === bytes) bytes = Math.min(bytes * 2, mostBytes);
      else if (value.length < bytes / 4) bytes = Math.max(bytes / 2, FIRST_BYTES);
      if (freesPieces) last = value.buffer;
      return { done, value };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
