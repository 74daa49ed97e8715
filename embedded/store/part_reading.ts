import { readFileSpan } from "./bodies.ts";

/** A part of a body in parts: a file below the data folder, or bytes in memory. */
export type PartSource = { file: string; size: number } | { data: Uint8Array; size: number };

/**
 * How many parts are open at a time. They are opened before their turn, since an overwrite meanwhile unlinks them: a file
 * that is open can be read on. Few enough for many readers under the usual limit of open files.
 */
const OPEN_PARTS = 64;

/**
 * The bytes `first` to `last` (inclusive) of a body in parts, one stream over all of them.
 *
 * @throws {Deno.errors.NotFound} when a part is gone before the first byte is read; one that is gone later breaks the
 *   stream, so that nothing mixed is read
 */
export async function readParts(
  folder: string,
  parts: readonly PartSource[],
  first: number,
  last: number,
): Promise<ReadableStream<Uint8Array>> {
  const waiting = overlapping(parts, first, last);
  const open: ReadableStreamDefaultReader<Uint8Array>[] = [];
  const openNext = async () => {
    const next = waiting.shift();
    if (next) open.push((await openPart(folder, next)).getReader());
  };
  const closeAll = async (reason: unknown) => {
    await Promise.all(open.splice(0).map((reader) => reader.cancel(reason).catch(() => {})));
  };
  try {
    while (waiting.length > 0 && open.length < OPEN_PARTS) await openNext();
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
  part: PartSource;
  first: number;
  last: number;
}

/** What of each part a range takes. */
function overlapping(parts: readonly PartSource[], first: number, last: number): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const part of parts) {
    const end = start + part.size;
    if (part.size > 0 && first < end && last >= start) {
      spans.push({ part, first: Math.max(0, first - start), last: Math.min(last, end - 1) - start });
    }
    start = end;
  }
  return spans;
}

function openPart(folder: string, { part, first, last }: Span): Promise<ReadableStream<Uint8Array>> {
  if ("file" in part) return readFileSpan(`${folder}/${part.file}`, first, last);
  return Promise.resolve(
    new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(part.data.subarray(first, last + 1));
        controller.close();
      },
    }),
  );
}
