import { Buffer } from "node:buffer";
import { bodyChunks, type BodyDecoder, type Bytes, receiveBody, type ReceivedBody } from "@/embedded/store/bodies.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { BodyTooLong, chunksReader, readWhole } from "@/lib/std/body_reader.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import type { Caller, ChunkedFraming, S3Call } from "./caller.ts";
import { type ChecksumAlgorithm, type StatedDigest, statedDigests, trailingDigests } from "./checksums.ts";
import { MAX_WRITE_BYTES, type S3Request } from "./s3_request.ts";
import type { ChunkSignatures } from "./sigv4.ts";
import { MAX_XML_BYTES, readXml, type XmlElement } from "./xml.ts";

/**
 * Receives the body of an object or a part, plain or aws-chunked; `further` digests are computed as well as the
 * stated ones. `admit` may reject the size by throwing, before anything is received. On an error nothing
 * remains.
 *
 * @returns also the algorithm of the checksum that is stored with the object: stated or named by the sender, else S3's
 *   default
 * @throws {StoreError} when it is too large, ends early or late, or when a signature or a digest does not match
 */
export async function receiveObjectBody(
  { store, request, caller }: Pick<S3Call, "store" | "request" | "caller">,
  admit: (size: number) => void,
  further: readonly ChecksumAlgorithm[] = [],
) {
  const size = statedSize(request, caller);
  admit(size);
  const stated = statedDigests(request.headers, caller);
  const chunked = caller.chunked && awsChunked(caller.chunked, size, stated.trailers);
  const algorithm = stated.checksum ?? stated.named ?? DEFAULT_CHECKSUM;
  const algorithms = new Set([...stated.digests.map((digest) => digest.algorithm), ...further]);
  if (further.length === 0 || stated.checksum) algorithms.add(algorithm);
  const received = await receiveBody(store, request.takeBody?.() ?? null, [...algorithms], chunked?.decode);
  try {
    if (received.size !== size) throw new StoreError("IncompleteBody");
    requireDigests([...stated.digests, ...trailingDigests(chunked?.trailers)], (one) => received.digests.get(one));
  } catch (error) {
    received.discard();
    throw error;
  }
  return { received, algorithm };
}

function requireDigests(
  stated: readonly StatedDigest[],
  digestOf: (algorithm: DigestAlgorithm) => string | undefined,
): void {
  for (const { algorithm, hex, code } of stated) if (digestOf(algorithm) !== hex) throw new StoreError(code);
}

/** How many bytes the body has without its framing. */
function statedSize({ headers, takeBody }: S3Request, caller: Caller): number {
  const isEmpty = !caller.chunked && takeBody === null && !headers.has("content-length");
  const size = isEmpty ? 0 : wholeLength(headers, caller.chunked ? DECODED_LENGTH : "content-length");
  if (size > MAX_WRITE_BYTES) throw new StoreError("EntityTooLarge", "A single write is limited to 5 GiB");
  return size;
}

const DECODED_LENGTH = "x-amz-decoded-content-length";

function wholeLength(headers: Headers, name: string): number {
  const text = headers.get(name);
  if (text === null || !/^[0-9]{1,15}$/.test(text)) throw new StoreError("MissingContentLength", `${name} is required`);
  return Number(text);
}

/** A digest of a received body in base64, as checksums are stored. */
export function checksumOf({ digests }: ReceivedBody, algorithm: DigestAlgorithm): string {
  return Buffer.from(digests.get(algorithm) ?? "", "hex").toString("base64");
}

/**
 * Runs what stores a received body in the index; discards the body where that fails by a rule.
 *
 * @throws what `store` throws
 */
export async function storeBody<T>(received: ReceivedBody, store: () => Promise<T>): Promise<T> {
  try {
    return await store();
  } catch (error) {
    // After a disk error its content is unknown: the sweep of the next start removes the file.
    if (error instanceof StoreError) received.discard();
    throw error;
  }
}

/**
 * Receives an XML body of at most `maxBytes` whole, plain or aws-chunked, checks the digests that its sender stated,
 * and reads it.
 *
 * @throws {StoreError} MalformedXML, also where the root element has another name than `root`, or the error of a wrong
 *   digest; BrokenBody
 */
export async function xmlBody(
  request: S3Request,
  caller: Caller,
  root: string | null,
  maxBytes: number = MAX_XML_BYTES,
): Promise<XmlElement> {
  return rootElement(await checkedBody(request, caller, maxBytes), root);
}

/** Like {@link xmlBody}, for an optional body; null without one. */
export async function optionalXmlBody(request: S3Request, caller: Caller, root: string): Promise<XmlElement | null> {
  const bytes = await checkedBody(request, caller, MAX_XML_BYTES);
  return bytes.length === 0 ? null : rootElement(bytes, root);
}

/**
 * A body of at most `maxBytes`, whole.
 *
 * @throws {StoreError} MalformedXML, BrokenBody
 */
export async function smallBody(
  request: S3Request,
  maxBytes: number = MAX_XML_BYTES,
  decode: BodyDecoder = (parts) => parts,
): Promise<Uint8Array> {
  const chunks = decode(bodyChunks(request.takeBody?.() ?? null));
  try {
    return await readWhole(chunksReader(chunks), { maxBytes });
  } catch (error) {
    throw error instanceof BodyTooLong ? new StoreError("MalformedXML", "The XML of the body is too large") : error;
  }
}

async function checkedBody(request: S3Request, caller: Caller, maxBytes: number): Promise<Uint8Array> {
  const stated = statedDigests(request.headers, caller);
  const size = caller.chunked && wholeLength(request.headers, DECODED_LENGTH);
  const chunked = caller.chunked && awsChunked(caller.chunked, size ?? 0, stated.trailers);
  const bytes = await smallBody(request, maxBytes, chunked?.decode);
  if (size !== null && bytes.length !== size) throw new StoreError("IncompleteBody");
  requireDigests([...stated.digests, ...trailingDigests(chunked?.trailers)], (algorithm) => {
    const digest = startDigest(algorithm);
    digest.update(bytes);
    return digest.hex();
  });
  return bytes;
}

function rootElement(bytes: Uint8Array, root: string | null): XmlElement {
  const document = readXml(bytes);
  if (root !== null && document.name !== root) {
    throw new StoreError("MalformedXML", `The body must be a ${root} element`);
  }
  return document;
}

/** Longest line of the framing, in bytes: a chunk's size and signature, or one trailer. */
const MAX_LINE_BYTES = 1024;

/** Most lines of a trailer, blank ones included. */
const MAX_TRAILER_LINES = 16;

const TRAILER_SIGNATURE = "x-amz-trailer-signature";

/**
 * Removes the aws-chunked framing of a body of `size` bytes that is followed by the `expected` trailers (Signature
 * Version 4, "Transferring payload in multiple chunks"). Chunks are yielded as they arrive, so decoded bytes must not
 * be trusted before the end, when the trailers are complete, by names in lower case. Decoding throws {@link StoreError}
 * for framing, sizes, trailers and signatures that are wrong.
 */
export function awsChunked(
  { signatures, hasTrailer }: ChunkedFraming,
  size: number,
  expected: readonly string[],
): { readonly decode: BodyDecoder; readonly trailers: ReadonlyMap<string, string> } {
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
