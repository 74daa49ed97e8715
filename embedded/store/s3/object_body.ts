import { Buffer } from "node:buffer";
import { type BodyFolder, receiveBody, type ReceivedBody } from "@/embedded/store/bodies.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import { awsChunked } from "./aws_chunked.ts";
import type { Caller } from "./caller.ts";
import type { ChecksumAlgorithm, Checksums } from "./checksums.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Request } from "./s3_request.ts";
import { statedDigests, trailingDigests } from "./stated_digests.ts";

/** A body that arrived whole and is what its sender says. */
interface ObjectBody {
  received: ReceivedBody;
  /** Without quotes: the hexadecimal MD5. */
  etag: string;
  /** The checksum to be stored with the object: the one that the sender stated or named, else S3's default. */
  checksums: Checksums | null;
}

/**
 * Receives the body of an object or a part, plain or aws-chunked, of at most `maxBytes`; `further` digests are computed
 * beside the stated ones. `admit` may reject the size by throwing, before anything is received. On an error nothing
 * remains.
 *
 * @throws {S3Error} when it is too large, ends early or late, or when a signature or a digest does not match
 */
export async function receiveObjectBody(
  folder: BodyFolder,
  request: S3Request,
  caller: Caller,
  maxBytes: number,
  further: readonly ChecksumAlgorithm[] = [],
  admit: (size: number) => void = () => {},
): Promise<ObjectBody> {
  const size = statedSize(request, caller, maxBytes);
  admit(size);
  const stated = statedDigests(request.headers, caller);
  const chunked = caller.chunked && awsChunked(caller.chunked, size, stated.trailers);
  const stored = stated.checksum ?? stated.named ?? DEFAULT_CHECKSUM;
  const algorithms = new Set([...stated.digests.map((digest) => digest.algorithm), ...further]);
  if (further.length === 0 || stated.checksum) algorithms.add(stored);
  const received = await receiveBody(
    folder,
    request.body,
    [...algorithms],
    chunked?.decode,
    announcedLength(request),
  );
  try {
    if (received.size !== size) throw new S3Error("IncompleteBody");
    for (const { algorithm, hex, code } of [...stated.digests, ...trailingDigests(chunked?.trailers ?? new Map())]) {
      if (received.digests.get(algorithm) !== hex) throw new S3Error(code);
    }
  } catch (error) {
    received.discard();
    throw error;
  }
  return { received, etag: received.digests.get("md5") ?? "", checksums: wholeChecksum(received, stored) };
}

/** How many bytes the body has without its framing. */
function statedSize({ headers, body }: S3Request, caller: Caller, maxBytes: number): number {
  const isEmpty = !caller.chunked && body === null && !headers.has("content-length");
  const size = isEmpty ? 0 : caller.chunked ? decodedLength(headers) : wholeLength(headers, "content-length");
  if (size > maxBytes) throw new S3Error("EntityTooLarge", `A single write is limited to ${maxBytes} bytes`);
  return size;
}

/**
 * How many bytes an aws-chunked body has without its framing.
 *
 * @throws {S3Error} MissingContentLength
 */
export function decodedLength(headers: Headers): number {
  return wholeLength(headers, "x-amz-decoded-content-length");
}

function wholeLength(headers: Headers, name: string): number {
  const text = headers.get(name);
  if (text === null || !/^[0-9]{1,15}$/.test(text)) throw new S3Error("MissingContentLength", `${name} is required`);
  return Number(text);
}

/** The checksum of a whole body as it is stored with an object; null where it was not computed. */
export function wholeChecksum({ digests }: ReceivedBody, algorithm: ChecksumAlgorithm | null): Checksums | null {
  const hex = algorithm && digests.get(algorithm);
  if (!hex) return null;
  return { [algorithm]: Buffer.from(hex, "hex").toString("base64"), type: "FULL_OBJECT" };
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
    // After a fault of the disk its content is unknown: the sweep of the next start removes such a file.
    if (error instanceof S3Error || error instanceof StoreError) received.discard();
    throw error;
  }
}
