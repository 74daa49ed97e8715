import { Buffer } from "node:buffer";
import type { ChecksumType } from "@/embedded/store/part_checksums.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { S3Error } from "./s3_error.ts";

/** The algorithms of S3's `x-amz-checksum-` headers with the sizes of their values, in bytes (S3 API, Checking object integrity). */
export const CHECKSUM_BYTES = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
} as const satisfies Partial<Record<DigestAlgorithm, number>>;

export type ChecksumAlgorithm = keyof typeof CHECKSUM_BYTES;

export const CHECKSUM_ALGORITHMS = Object.keys(CHECKSUM_BYTES) as readonly ChecksumAlgorithm[];

/** Headers that name an algorithm or a type, and are no checksum. */
export const ABOUT_CHECKSUMS = /^x-amz-checksum-(?:algorithm|type)$/;

/** Checksums as they are stored with an object: base64 by their algorithm, and what they are of. */
export type Checksums = Readonly<Record<string, string>>;

/** The algorithm of a header such as `x-amz-checksum-crc32`; null for any other header. */
export function checksumAlgorithm(header: string): ChecksumAlgorithm | null {
  const name = header.startsWith(PREFIX) ? header.slice(PREFIX.length) : "";
  return isAlgorithm(name) ? name : null;
}

/** The algorithm of a name such as `CRC32`, in any case; null for one that is not provided. */
export function algorithmOf(name: string): ChecksumAlgorithm | null {
  return checksumAlgorithm(PREFIX + name.toLowerCase());
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
 * @throws {S3Error} InvalidRequest
 */
export function statedType(headers: Headers): ChecksumType | null {
  const type = headers.get("x-amz-checksum-type")?.toUpperCase() ?? null;
  if (type === null || type === "COMPOSITE" || type === "FULL_OBJECT") return type;
  throw new S3Error("InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
}

const PREFIX = "x-amz-checksum-";

function isAlgorithm(name: string): name is ChecksumAlgorithm {
  return Object.hasOwn(CHECKSUM_BYTES, name);
}
