import type { BodyDecoder, Bytes } from "@/embedded/store/bodies.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { ChunkSignatures } from "./sigv4.ts";

/** The framing of a chunked body. */
export interface ChunkedFraming {
  /** Checks the signatures of the chunks; null where they have none. */
  signatures: ChunkSignatures | null;
  hasTrailer: boolean;
}

/** A body whose framing is being removed. */
interface ChunkedBody {
  readonly decode: BodyDecoder;
  /** The trailers, by names in lower case; complete when the decoded body has ended. */
  readonly trailers: ReadonlyMap<string, string>;
}

/** Longest line of the framing, in bytes: a chunk's size and signature, or one trailer. */
const MAX_LINE_BYTES = 1024;

/** Most lines of a trailer, blank ones included. */
const MAX_TRAILER_LINES = 16;

const TRAILER_SIGNATURE = "x-amz-trailer-signature";

/**
 * Removes the aws-chunked framing of a body of `size` bytes that is followed by the `expected` trailers (Signature
 * Version 4, "Transferring payload in multiple chunks"). Chunks are yielded as they arrive, so decoded bytes must not
 * be trusted before the end. Decoding throws {@link StoreError} for framing, sizes, trailers and signatures that are
 * wrong.
 */
export function awsChunked(
  { signatures, hasTrailer }: ChunkedFraming,
  size: number,
  expected: readonly string[],
): ChunkedBody {
  const trailers = new Map<string, string>();
  async function* decode(parts: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
    const reader = new ByteReader(parts);
    let left = size;
    for (;;) {
      const chunk = parseChunkLine(await reader.line(MAX_LINE_BYTES), signatures !== null);
      if (chunk.size > left) {
        throw new StoreError("IncompleteBody", "The body is longer than x-amz-decoded-content-length");
      }
      left -= chunk.size;
      const digest = signatures?.startChunk();
      for (let missing = chunk.size; missing > 0;) {
        const bytes = await reader.some(missing);
        if (!bytes) throw new StoreError("IncompleteBody");
        missing -= bytes.length;
        digest?.update(bytes);
        yield bytes;
      }
      if (digest) signatures?.requireChunk(chunk.signature, digest);
      if (chunk.size === 0) break;
      if (await reader.line(MAX_LINE_BYTES) !== "") throw malformed("a chunk is longer than it says");
    }
    if (left > 0) throw new StoreError("IncompleteBody", "The body is shorter than x-amz-decoded-content-length");
    if (hasTrailer) await readTrailer(reader, expected, trailers, signatures);
    // Clients differ in how many line ends they close the body with.
    for (let lines = 0, line = await reader.line(MAX_LINE_BYTES); line !== null; lines++) {
      if (line !== "" || lines === MAX_TRAILER_LINES) throw malformed("something follows its end");
      line = await reader.line(MAX_LINE_BYTES);
    }
  }
  return { decode, trailers };
}

/** Reads the trailer up to its signature or, where it has none, up to the end of the body. */
async function readTrailer(
  reader: ByteReader,
  expected: readonly string[],
  trailers: Map<string, string>,
  signatures: ChunkSignatures | null,
): Promise<void> {
  let signature: string | null = null;
  for (let lines = 0; signature === null; lines++) {
    if (lines === MAX_TRAILER_LINES) throw new StoreError("MalformedTrailerError", "The trailer has too many lines");
    const line = await reader.line(MAX_LINE_BYTES);
    if (line === null) break;
    // Some clients end a trailer with "\n\r\n", which looks like a blank line after it.
    if (line === "") continue;
    const [, name = "", value = ""] = /^([!-9;-~]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    const trailer = name.toLowerCase();
    if (trailer === TRAILER_SIGNATURE && signatures) signature = value;
    else if (!expected.includes(trailer) || trailers.has(trailer)) {
      throw new StoreError("MalformedTrailerError", "The trailer is not what x-amz-trailer announces");
    } else trailers.set(trailer, value);
  }
  if (trailers.size < expected.length) throw new StoreError("MalformedTrailerError", "The trailer is not complete");
  if (!signatures) return;
  if (signature === null || !/^[0-9a-f]{64}$/.test(signature)) {
    throw new StoreError("MalformedTrailerError", "The signature of the trailer is missing or malformed");
  }
  signatures.requireTrailer(signature, [...trailers].map(([name, value]) => `${name}:${value}\n`).join(""));
}

function parseChunkLine(line: string | null, isSigned: boolean): { size: number; signature: string } {
  if (line === null) throw new StoreError("IncompleteBody");
  const match = /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line);
  if (!match) throw malformed("a chunk does not begin with its size");
  const [, size, signature = ""] = match;
  if (isSigned && signature === "") throw malformed("a chunk has no signature");
  return { size: parseInt(size, 16), signature: signature.toLowerCase() };
}

function malformed(what: string): StoreError {
  return new StoreError("InvalidRequest", `The aws-chunked body is malformed: ${what}`);
}

const LINE_FEED = 10;

/** Reads lines and runs of bytes from a stream of chunks, of which it holds one at a time. */
class ByteReader {
  readonly #parts: AsyncIterator<Bytes>;
  #part: Bytes = new Uint8Array();

  constructor(parts: AsyncIterable<Bytes>) {
    this.#parts = parts[Symbol.asyncIterator]();
  }

  /** Up to `limit` bytes, to be used before the next call; null at the end. */
  async some(limit: number): Promise<Bytes | null> {
    if (!await this.#fill()) return null;
    const bytes = this.#part.subarray(0, limit);
    this.#part = this.#part.subarray(bytes.length);
    return bytes;
  }

  /**
   * A line in Latin-1 without its LF or CRLF; null at the end.
   *
   * @throws {StoreError} for one of more than `limit` bytes or without an end
   */
  async line(limit: number): Promise<string | null> {
    let line = "";
    while (await this.#fill()) {
      const end = this.#part.indexOf(LINE_FEED);
      const bytes = this.#part.subarray(0, end < 0 ? undefined : end);
      if (line.length + bytes.length > limit) throw new StoreError("InvalidRequest", "A line of the body is too long");
      line += String.fromCharCode(...bytes);
      this.#part = this.#part.subarray(end < 0 ? this.#part.length : end + 1);
      if (end >= 0) return line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    if (line !== "") throw new StoreError("IncompleteBody");
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
