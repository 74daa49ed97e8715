import { Buffer } from "node:buffer";

const LF = 0x0a;
const CR = 0x0d;

/** Longest line that is read, bytes: a digest and a key of 1024 bytes, each written as three. */
const MAX_LINE_BYTES = 8 * 1024;

const LINE_END = /\r\n|[\r\n]/;

/**
 * Cuts UTF-8 that arrives in chunks into lines, which end with LF, CR LF or CR. A byte order mark at the very beginning is
 * left out. It holds one line at most.
 */
export class LineSplitter {
  readonly #onLine: (line: string | null) => void;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #isFirst = true;
  /** The beginning of a line whose end has not come. */
  #rest: Uint8Array = new Uint8Array(0);
  /** Whether the line under way is longer than may be. */
  #isTooLong = false;
  /** Whether the last byte was a CR, with which an LF belongs together. */
  #isBehindCr = false;

  /** @param onLine receives each line without its end; null for one that is too long or is not UTF-8 */
  constructor(onLine: (line: string | null) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    if (this.#isBehindCr && chunk.length > 0) {
      if (chunk[0] === LF) at = 1;
      this.#isBehindCr = false;
    }
    // Decoding the lines of a chunk together takes a tenth of the time.
    if (this.#rest.length === 0 && !this.#isTooLong) at = this.#emitTogether(chunk, at);
    while (at < chunk.length) {
      const end = lineEnd(chunk, at);
      if (end < 0) return this.#hold(chunk.subarray(at));
      this.#emit(chunk.subarray(at, end));
      at = end + 1;
      if (chunk[end] !== CR) continue;
      if (at === chunk.length) this.#isBehindCr = true;
      else if (chunk[at] === LF) at++;
    }
  }

  /** Reports what stands behind the last line end. */
  end(): void {
    if (this.#rest.length > 0 || this.#isTooLong) this.#emit(new Uint8Array(0));
  }

  /** Reports the whole lines from a byte on, where all of them are UTF-8. @returns behind the last of them */
  #emitTogether(chunk: Uint8Array, from: number): number {
    const last = chunk.lastIndexOf(LF);
    if (last < from) return from;
    const text = this.#text(chunk.subarray(from, last + 1));
    if (text === null) return from;
    const lines = text.split(LINE_END);
    // Nothing stands behind the last line end.
    lines.pop();
    for (const line of lines) this.#report(isLong(line) ? null : line);
    return last + 1;
  }

  #hold(part: Uint8Array): void {
    if (this.#rest.length + part.length > MAX_LINE_BYTES) this.#isTooLong = true;
    // The memory of a chunk is its giver's.
    this.#rest = this.#isTooLong ? new Uint8Array(0) : Buffer.concat([this.#rest, part]);
  }

  #emit(part: Uint8Array): void {
    const isTooLong = this.#isTooLong || this.#rest.length + part.length > MAX_LINE_BYTES;
    const bytes = this.#rest.length > 0 && !isTooLong ? Buffer.concat([this.#rest, part]) : part;
    this.#rest = new Uint8Array(0);
    this.#isTooLong = false;
    this.#report(isTooLong ? null : this.#text(bytes));
  }

  #report(line: string | null): void {
    this.#onLine(this.#isFirst && line !== null ? line.replace(/^\ufeff/, "") : line);
    this.#isFirst = false;
  }

  #text(bytes: Uint8Array): string | null {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return null;
    }
  }
}

/** Whether a line has too many bytes, of which a character takes three at most. */
function isLong(line: string): boolean {
  return line.length > MAX_LINE_BYTES / 3 && Buffer.byteLength(line) > MAX_LINE_BYTES;
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const lf = bytes.indexOf(LF, from);
  const cr = bytes.subarray(from, lf < 0 ? bytes.length : lf).indexOf(CR);
  return cr < 0 ? lf : from + cr;
}
