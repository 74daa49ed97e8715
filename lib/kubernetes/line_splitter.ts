import { Buffer } from "node:buffer";

/** A line that does not end within its limit. Another request for it would bring it again. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";
}

const NEWLINE = 0x0a;

/**
 * Returns a function that takes chunks and calls `onLine` with their lines, without line ends and without blank lines. No
 * more than one line is held; the function throws {@link LineTooLong} for a longer one.
 */
export function lineSplitter(maxLineBytes: number, onLine: (line: Uint8Array) => void): (chunk: Uint8Array) => void {
  let chunks: Uint8Array[] = [];
  let length = 0;
  const hold = (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > maxLineBytes) throw new LineTooLong(`a line is longer than ${maxLineBytes} bytes`);
    chunks.push(chunk);
  };
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end));
      const line = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      chunks = [];
      length = 0;
      start = end + 1;
      if (line.length > 0) onLine(line);
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  };
}
