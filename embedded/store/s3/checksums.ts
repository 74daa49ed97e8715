import { Buffer } from "node:buffer";
import { canBeFullObject, type ChecksumType } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import type { Caller } from "./caller.ts";
import { childWord, element, type XmlElement } from "./xml.ts";

/** The algorithms of S3's `x-amz-checksum-` headers with the sizes of their values, in bytes (S3 API, Checking object integrity). */
export const CHECKSUM_BYTES = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
} as const satisfies Partial<Record<DigestAlgorithm, number>>;

export type ChecksumAlgorithm = keyof typeof CHECKSUM_BYTES;

const CHECKSUM_ALGORITHMS = Object.keys(CHECKSUM_BYTES) as readonly ChecksumAlgorithm[];

/** Headers that name an algorithm or a type, and are no checksum. */
const ABOUT_CHECKSUMS = /^x-amz-checksum-(?:algorithm|type)$/;

/** Stored checksums of an object: base64 by algorithm, and `type`, whether of the whole or of its parts. */
export type Checksums = Readonly<Record<string, string>>;

/** The algorithm of a header such as `x-amz-checksum-crc32`; null for any other header. */
export function checksumAlgorithm(header: string): ChecksumAlgorithm | null {
  const name = header.startsWith(PREFIX) ? header.slice(PREFIX.length) : "";
  return isAlgorithm(name) ? name : null;
}

/** The hexadecimal form of a digest in base64; null where it is not one of so many bytes. */
export function digestFromBase64(text: string, bytes: number): string | null {
  const digest = Buffer.from(text, "base64");
  return digest.length === bytes && digest.toString("base64") === text ? digest.toString("hex") : null;
}

/** The response headers with the checksums of an object; empty where it has none. */
export function checksumHeaders(checksums: Checksums | null): Record<string, string> {
  if (!checksums) return {};
  return Object.fromEntries(Object.entries(checksums).map(([name, value]) => [PREFIX + name, value]));
}

/** The algorithm of an object's checksum; null where it has none. */
export function checksumAlgorithmOf({ checksums }: { readonly checksums: Checksums | null }): string | null {
  return Object.keys(checksums ?? {}).find((name) => name !== "type") ?? null;
}

/**
 * The value of x-amz-checksum-type, whatever its case; null where it is absent.
 *
 * @throws {StoreError} InvalidRequest
 */
function statedType(headers: Headers): ChecksumType | null {
  const type = headers.get("x-amz-checksum-type")?.toUpperCase() ?? null;
  if (type === null || type === "COMPOSITE" || type === "FULL_OBJECT") return type;
  throw new StoreError("InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
}

const PREFIX = "x-amz-checksum-";

function isAlgorithm(name: string): name is ChecksumAlgorithm {
  return Object.hasOwn(CHECKSUM_BYTES, name);
}

/** A digest that the sender states of a body. */
export interface StatedDigest {
  algorithm: DigestAlgorithm;
  hex: string;
  code: "BadDigest" | "XAmzContentSHA256Mismatch";
}

const MD5_BYTES = 16;

/**
 * The digests that the client states of its body: those that are known before it, and the headers that follow it, in
 * lower case. `checksum` is the one that is stored with the object, `named` that of x-amz-checksum-algorithm, with or
 * without its value.
 *
 * @throws {StoreError} for malformed ones, for contradictions (S3 takes one checksum), and for unsupported ones
 */
export function statedDigests(headers: Headers, caller: Caller) {
  const digests: StatedDigest[] = [];
  if (caller.payloadSha256) {
    digests.push({ algorithm: "sha256", hex: caller.payloadSha256, code: "XAmzContentSHA256Mismatch" });
  }
  const md5 = headers.get("content-md5");
  if (md5 !== null) {
    const hex = digestFromBase64(md5, MD5_BYTES);
    if (hex === null) throw new StoreError("InvalidDigest", "The header content-md5 is not valid");
    digests.push({ algorithm: "md5", hex, code: "BadDigest" });
  }
  const inHeaders = checksumsInHeaders(headers);
  for (const { header, algorithm, value } of inHeaders) digests.push(statedChecksum(header, algorithm, value));
  const trailers = statedTrailers(headers, caller);
  const checksums = [...inHeaders.map(({ algorithm }) => algorithm), ...trailers.map(requireChecksum)];
  requireOne(checksums);
  const checksum = checksums.at(0) ?? null;
  requireAnnounced(headers.get("x-amz-sdk-checksum-algorithm"), checksum);
  statedType(headers);
  const named = namedAlgorithm(headers);
  if (named && checksum && named !== checksum) {
    throw new StoreError(
      "InvalidRequest",
      "x-amz-checksum-algorithm names another checksum than the one that is stated",
    );
  }
  return { digests, checksum, named, trailers };
}

function checksumsInHeaders(headers: Headers): { header: string; algorithm: ChecksumAlgorithm; value: string }[] {
  return [...headers].filter(([header]) => header.startsWith(PREFIX) && !ABOUT_CHECKSUMS.test(header))
    .map(([header, value]) => ({ header, algorithm: requireChecksum(header), value }));
}

function requireOne(checksums: readonly unknown[]): void {
  if (checksums.length > 1) throw new StoreError("InvalidRequest", "A body may have only one x-amz-checksum header");
}

/**
 * The digests that followed a body.
 *
 * @throws {StoreError} for values that are malformed
 */
export function trailingDigests(trailers: ReadonlyMap<string, string> = new Map()): StatedDigest[] {
  return [...trailers].map(([name, value]) => statedChecksum(name, requireChecksum(name), value));
}

function statedChecksum(header: string, algorithm: ChecksumAlgorithm, value: string): StatedDigest {
  const hex = digestFromBase64(value, CHECKSUM_BYTES[algorithm]);
  if (hex === null) throw new StoreError("InvalidRequest", `The value of ${header} is not valid`);
  return { algorithm, hex, code: "BadDigest" };
}

function statedTrailers(headers: Headers, caller: Caller): string[] {
  const text = headers.get("x-amz-trailer");
  if (text === null) return [];
  if (!caller.chunked?.hasTrailer) {
    throw new StoreError("InvalidRequest", "x-amz-trailer needs a body that is sent with a trailer");
  }
  return text.split(",").map((name) => name.trim().toLowerCase());
}

function requireChecksum(name: string): ChecksumAlgorithm {
  const algorithm = checksumAlgorithm(name);
  if (algorithm) return algorithm;
  throw name.startsWith(PREFIX)
    ? new StoreError("NotImplemented", `The checksum ${name} is not provided`)
    : new StoreError("InvalidRequest", "x-amz-trailer may name a checksum, and nothing else");
}

/**
 * The algorithm that x-amz-checksum-algorithm names, in any case; null without the header.
 *
 * @throws {StoreError} NotImplemented
 */
export function namedAlgorithm(headers: Headers): ChecksumAlgorithm | null {
  const name = headers.get("x-amz-checksum-algorithm");
  const algorithm = name === null ? null : checksumAlgorithm(PREFIX + name.toLowerCase());
  if (name === null || algorithm) return algorithm;
  throw new StoreError("NotImplemented", "This x-amz-checksum-algorithm is not provided");
}

function requireAnnounced(announced: string | null, checksum: ChecksumAlgorithm | null): void {
  if (announced === null || announced.toLowerCase() === checksum) return;
  throw new StoreError(
    "InvalidRequest",
    "x-amz-sdk-checksum-algorithm names no checksum that comes in a header or in the trailer",
  );
}

/**
 * The requested checksum of an upload: the algorithm for its parts, and how they become the object's.
 *
 * @throws {StoreError}
 */
export function uploadChecksum(headers: Headers): { algorithm: ChecksumAlgorithm; type: ChecksumType } | null {
  const algorithm = namedAlgorithm(headers);
  const type = statedType(headers);
  if (algorithm === null) {
    if (type === null) return null;
    throw new StoreError("InvalidRequest", "x-amz-checksum-type needs x-amz-checksum-algorithm");
  }
  // CRC64NVME is of the whole object only (S3 API, checking object integrity).
  if (type === null) return { algorithm, type: algorithm === "crc64nvme" ? "FULL_OBJECT" : "COMPOSITE" };
  if (type === "COMPOSITE" && algorithm === "crc64nvme") {
    throw new StoreError("InvalidRequest", "x-amz-checksum-type COMPOSITE does not go with CRC64NVME");
  }
  if (type === "FULL_OBJECT" && !canBeFullObject(algorithm)) {
    throw new StoreError("InvalidRequest", "x-amz-checksum-type FULL_OBJECT goes with the CRC algorithms only");
  }
  return { algorithm, type };
}

/** The checksums that an XML element states, in base64 by their algorithm. */
export function checksumsIn(xml: XmlElement): Record<string, string> {
  const stated = CHECKSUM_ALGORITHMS.map((one) => [one, childWord(xml, `Checksum${one.toUpperCase()}`)]);
  return Object.fromEntries(stated.filter(([, value]) => value !== null));
}

/**
 * The checksum of the whole object that the headers of a complete state, in base64 by its algorithm, perhaps with its
 * type.
 *
 * @throws {StoreError} InvalidRequest for one that is malformed and for several, NotImplemented for others
 */
export function checksumsOf(headers: Headers): Record<string, string> {
  const checksums = checksumsInHeaders(headers);
  requireOne(checksums);
  for (const { header, algorithm, value } of checksums) {
    if (digestFromBase64(value.replace(/-[1-9][0-9]{0,4}$/, ""), CHECKSUM_BYTES[algorithm]) === null) {
      throw new StoreError("InvalidRequest", `The value of ${header} is not valid`);
    }
  }
  const type = statedType(headers);
  return {
    ...Object.fromEntries(checksums.map(({ algorithm, value }) => [algorithm, value])),
    ...(type === null ? {} : { type }),
  };
}

/** Stored checksums as XML elements of a response. */
export function checksumElements(checksums: Readonly<Record<string, string>>): string {
  const elements = [...CHECKSUM_ALGORITHMS, "type"].map((name) => {
    const tag = name === "type" ? "ChecksumType" : `Checksum${name.toUpperCase()}`;
    return checksums[name] === undefined ? "" : element(tag, checksums[name]);
  });
  return elements.join("");
}

/** The wire names of an upload's algorithm and type, as elements. */
export function checksumKind(algorithm: string | null, type: string | null): string {
  if (algorithm === null) return "";
  // Without the search for escapes, which neither needs: a page has a thousand of them.
  const named = `<ChecksumAlgorithm>${algorithm.toUpperCase()}</ChecksumAlgorithm>`;
  return type ? `${named}<ChecksumType>${type}</ChecksumType>` : named;
}
