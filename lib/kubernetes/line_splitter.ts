import { Buffer } from "node:buffer";

/** A line that does not end within its limit. Another request for it would bring it again. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";
}

const NEWLINE = 0x0a;

/** Splits chunks into lines, without their ends and without blank ones. No more than one line is held. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #onLine: (line: Uint8Array) => void;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxLineBytes: number, onLine: (line: Uint8Array) => void) {
    this.#maxLineBytes = maxLineBytes;
    this.#onLine = onLine;
  }

  /** @throws {LineTooLong} */
  take(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, end));
      const line = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#length = 0;
      start = end + 1;
      if (line.length > 0) this.#onLine(line);
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  #hold(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxLineBytes) throw new LineTooLong(`a line is longer than ${this.#maxLineBytes} bytes`);
    this.#chunks.push(chunk);
  }
}
