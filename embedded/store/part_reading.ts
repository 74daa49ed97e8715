import { readFileSpan } from "./bodies.ts";

/** A piece of a body in parts: a file below the data folder, or bytes in memory. */
export type Piece = { file: string; size: number } | { data: Uint8Array; size: number };

/**
 * How many pieces are open at a time. They are opened before their turn, since an overwrite meanwhile unlinks them: a file
 * that is open can be read on. Few enough for many readers under the usual limit of open files.
 */
const OPEN_PIECES = 64;

/**
 * The bytes `first` to `last` (inclusive) of a body in pieces, one stream over all of them. Throws Deno.errors.NotFound when
 * a piece is gone before the first byte is read; one that is gone later breaks the stream, so that nothing mixed is read.
 */
export async function readPieces(
  folder: string,
  pieces: readonly Piece[],
  first: number,
  last: number,
): Promise<ReadableStream<Uint8Array>> {
  const waiting = overlapping(pieces, first, last);
  const open: ReadableStreamDefaultReader<Uint8Array>[] = [];
  const openNext = async () => {
    const next = waiting.shift();
    if (next) open.push((await openPiece(folder, next)).getReader());
  };
  const closeAll = async (reason: unknown) => {
    await Promise.all(open.splice(0).map((reader) => reader.cancel(reason).catch(() => {})));
  };
  try {
    while (waiting.length > 0 && open.length < OPEN_PIECES) await openNext();
  } catch (error) {
    await closeAll(error);
    throw error;
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        while (open.length > 0) {
          const { done, value } = await open[0].read();
          if (!done) return controller.enqueue(value);
          open.shift();
          await openNext();
        }
        controller.close();
      } catch (error) {
        await closeAll(error);
        throw error;
      }
    },
    cancel: closeAll,
  }, { highWaterMark: 0 });
}

interface Span {
  piece: Piece;
  first: number;
  last: number;
}

/** What of each piece a range takes. */
function overlapping(pieces: readonly Piece[], first: number, last: number): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const piece of pieces) {
    const end = start + piece.size;
    if (piece.size > 0 && first < end && last >= start) {
      spans.push({ piece, first: Math.max(0, first - start), last: Math.min(last, end - 1) - start });
    }
    start = end;
  }
  return spans;
}

function openPiece(folder: string, { piece, first, last }: Span): Promise<ReadableStream<Uint8Array>> {
  if ("file" in piece) return readFileSpan(`${folder}/${piece.file}`, first, last);
  return Promise.resolve(
    new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(piece.data.subarray(first, last + 1));
        controller.close();
      },
    }),
  );
}
