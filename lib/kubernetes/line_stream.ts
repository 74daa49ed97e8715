import { Buffer } from "node:buffer";
import { type Transfer, transfer, TransferError, type TransferLimits } from "./transfer.ts";

export interface LineLimits extends TransferLimits {
  /** Of one line. */
  readonly maxLineBytes: number;
}

/** A line that does not end within its limit: asking for it again would bring it again. */
export class LineTooLong extends TransferError {}

/** Of the body of an answer that is no stream. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Sends a request and hands over the lines of a 200 answer as they come, without their ends; blank ones are left out,
 * and so is a last one that does not end. The status is the result. No more than one line is held.
 *
 * @throws {TransferError} when a limit is passed, the signal aborts or the connection breaks
 */
export function streamLines(
  request: Transfer,
  limits: LineLimits,
  onLine: (line: Uint8Array) => void,
): Promise<number> {
  let pieces: Buffer[] = [];
  let length = 0;
  const keep = (piece: Buffer) => {
    length += piece.length;
    if (length > limits.maxLineBytes) throw new LineTooLong(`a line is longer than ${limits.maxLineBytes} bytes`);
    pieces.push(piece);
  };
  return transfer(request, limits, (chunk, status) => {
    if (status !== 200) {
      length += chunk.length;
      if (length > MAX_REFUSAL_BYTES) throw new TransferError(`status ${status} and too long a body`);
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      const line = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
      pieces = [];
      length = 0;
      start = end + 1;
      if (line.length > 0) onLine(line);
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  });
}

const NEWLINE = 0x0a;
