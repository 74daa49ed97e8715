import { Buffer } from "node:buffer";

/** Longest line that is read, bytes: a digest and a key of 1024 bytes, each written as three. */
const MAX_LINE_BYTES = 8 * 1024;

/**
 * Cuts UTF-8 that arrives in chunks into lines, which end with LF, CR LF or CR. A byte order mark at the very beginning is
 * left out. It holds one line at most.
 */
export class LineSplitter {
  readonly #onLine: (line: string | null) => void;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #isFirst = true;
  /** The beginning of a line whose end has not come, a character for each byte. */
  #rest = "";
  /** Whether the last byte was a CR, with which an LF belongs together. */
  #isBehindCr = false;

  /** @param onLine receives each line without its end; null for one that is too long or is not UTF-8 */
  constructor(onLine: (line: string | null) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1");
    const lines = text.slice(this.#isBehindCr && text.startsWith("\n") ? 1 : 0).split(/\r\n|[\r\n]/);
    this.#isBehindCr = text.endsWith("\r");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#report(this.#rest + line);
      this.#rest = "";
    }
    // One byte more shows that the line is too long.
    this.#rest = (this.#rest + rest).slice(0, MAX_LINE_BYTES + 1);
  }

  /** Reports what stands behind the last line end. */
  end(): void {
    if (this.#rest !== "") this.#report(this.#rest);
  }

  #report(bytes: string): void {
    const line = bytes.length > MAX_LINE_BYTES ? null : this.#decoded(bytes);
    this.#onLine(this.#isFirst && line !== null ? line.replace(/^\ufeff/, "") : line);
    this.#isFirst = false;
  }

  #decoded(bytes: string): string | null {
    if (!/[\x80-\xff]/.test(bytes)) return bytes;
    try {
      return this.#decoder.decode(Buffer.from(bytes, "latin1"));
    } catch {
      return null;
    }
  }
}
