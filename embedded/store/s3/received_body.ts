import { Buffer } from "node:buffer";
import { bodyChunks, type BodyDecoder, receiveBody, type ReceivedBody } from "@/embedded/store/bodies.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { BodyTooLong, chunksReader, readWhole } from "@/lib/std/body_reader.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { awsChunked } from "./aws_chunked.ts";
import type { Caller, S3Call } from "./caller.ts";
import { type ChecksumAlgorithm, type StatedDigest, statedDigests, trailingDigests } from "./checksums.ts";
import type { S3Request } from "./s3_request.ts";
import { MAX_XML_BYTES, readXml, type XmlElement } from "./xml.ts";

/** A body that arrived whole and is what its sender says. */
interface ObjectBody {
  received: ReceivedBody;
  /** The algorithm of the checksum that is stored with the object: stated or named by the sender, else S3's default. */
  algorithm: ChecksumAlgorithm;
}

/** Largest body of one PUT: 5 GiB (S3 API, PutObject). */
const MAX_PUT_BYTES = 5 * 1024 ** 3;

/**
 * Receives the body of an object or a part, plain or aws-chunked; `further` digests are computed as well as the
 * stated ones. `admit` may reject the size by throwing, before anything is received. On an error nothing
 * remains.
 *
 * @throws {StoreError} when it is too large, ends early or late, or when a signature or a digest does not match
 */
export async function receiveObjectBody(
  { store, request, caller }: Pick<S3Call, "store" | "request" | "caller">,
  admit: (size: number) => void,
  further: readonly ChecksumAlgorithm[] = [],
): Promise<ObjectBody> {
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
  const size = isEmpty ? 0 : caller.chunked ? decodedLength(headers) : wholeLength(headers, "content-length");
  if (size > MAX_PUT_BYTES) throw new StoreError("EntityTooLarge", "A single write is limited to 5 GiB");
  return size;
}

function decodedLength(headers: Headers): number {
  return wholeLength(headers, "x-amz-decoded-content-length");
}

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
  const size = caller.chunked && decodedLength(request.headers);
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
