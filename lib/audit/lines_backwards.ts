import { Buffer } from "node:buffer";

const BLOCK_BYTES = 256 * 1024;
/** A longer line is no record, bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

/** A line of a file without its end. */
interface Line {
  readonly text: string;
  /** Where it begins, bytes. */
  readonly offset: number;
}

/**
 * The lines of a file from the last to the first, as far as they end in a line feed.
 *
 * @param end only those before this byte, which must be the beginning of a line
 */
export async function* linesBackwards(file: Deno.FsFile, end: number): AsyncGenerator<Line> {
  /** What was read and is not returned yet; it begins at `start`. */
  let held = Buffer.alloc(0);
  let start = end;
  let isWhole = false;
  while (start > 0) {
    const length = Math.min(BLOCK_BYTES, start);
    const block = Buffer.alloc(length);
    await file.seek(start - length, Deno.SeekMode.Start);
    for (let filled = 0; filled < length;) {
      const count = await file.read(block.subarray(filled));
      // The file became shorter: what is missing was never complete.
      if (count === null) return;
      filled += count;
    }
    start -= length;
    held = held.length === 0 ? block : Buffer.concat([block, held]);
    for (;;) {
      // The line feed that ends the last line held, and the one before that line.
      if (!isWhole) {
        const last = held.lastIndexOf(0x0a);
        if (last < 0) break;
        held = held.subarray(0, last + 1);
        isWhole = true;
      }
      const before = held.length < 2 ? -1 : held.lastIndexOf(0x0a, held.length - 2);
      if (before < 0 && start > 0) break;
      if (held.length === 0) break;
      yield { text: held.toString("utf8", before + 1, held.length - 1), offset: start + before + 1 };
      held = held.subarray(0, before + 1);
    }
    if (held.length > MAX_LINE_BYTES) {
      held = held.subarray(0, BLOCK_BYTES);
      isWhole = false;
    }
  }
}
