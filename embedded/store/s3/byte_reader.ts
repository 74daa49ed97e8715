import { S3Error } from "./s3_error.ts";

const LINE_FEED = 10;

/** Reads lines and runs of bytes from a stream of chunks, of which it holds one at a time. */
export class ByteReader {
  readonly #parts: AsyncIterator<Uint8Array>;
  #part: Uint8Array = new Uint8Array();

  constructor(parts: AsyncIterable<Uint8Array>) {
    this.#parts = parts[Symbol.asyncIterator]();
  }

  /** Up to `limit` bytes, to be used before the next call; null at the end. */
  async some(limit: number): Promise<Uint8Array | null> {
    if (!await this.#fill()) return null;
    const bytes = this.#part.subarray(0, limit);
    this.#part = this.#part.subarray(bytes.length);
    return bytes;
  }

  /**
   * A line in Latin-1 without its LF or CRLF; null at the end.
   *
   * @throws {S3Error} for one of more than `limit` bytes or without an end
   */
  async line(limit: number): Promise<string | null> {
    let line = "";
    while (await this.#fill()) {
      const end = this.#part.indexOf(LINE_FEED);
      const bytes = this.#part.subarray(0, end < 0 ? undefined : end);
      if (line.length + bytes.length > limit) throw new S3Error("InvalidRequest", "A line of the body is too long");
      line += String.fromCharCode(...bytes);
      this.#part = this.#part.subarray(end < 0 ? this.#part.length : end + 1);
      if (end >= 0) return line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    if (line !== "") throw new S3Error("IncompleteBody");
    return null;
  }

  /** Whether there is a chunk with bytes left. */
  async #fill(): Promise<boolean> {
    while (this.#part.length === 0) {
      const { done, value } = await this.#parts.next();
      if (done) return false;
      this.#part = value;
    }
    return true;
  }
}
