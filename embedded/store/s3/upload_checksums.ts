import { Buffer } from "node:buffer";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { canBeFullObject, type ChecksumType } from "@/embedded/store/part_checksums.ts";
import {
  ABOUT_CHECKSUMS,
  algorithmOf,
  CHECKSUM_ALGORITHMS,
  CHECKSUM_BYTES,
  type ChecksumAlgorithm,
  checksumAlgorithm,
  digestFromBase64,
  statedType,
} from "./checksums.ts";
import { childWord, type XmlElement } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import { element } from "./xml.ts";

/**
 * The requested checksum of an upload: the algorithm for its parts, and how they become the object's.
 *
 * @throws {S3Error}
 */
export function uploadChecksum(headers: Headers): { algorithm: ChecksumAlgorithm; type: ChecksumType } | null {
  const name = headers.get("x-amz-checksum-algorithm");
  const type = statedType(headers);
  if (name === null) {
    if (type === null) return null;
    throw new S3Error("InvalidRequest", "x-amz-checksum-type needs x-amz-checksum-algorithm");
  }
  const algorithm = algorithmOf(name);
  if (!algorithm) throw new S3Error("NotImplemented", "This x-amz-checksum-algorithm is not provided");
  // CRC64NVME is of the whole object only (S3 API, checking object integrity).
  if (type === null) return { algorithm, type: algorithm === "crc64nvme" ? "FULL_OBJECT" : "COMPOSITE" };
  if (type === "COMPOSITE") {
    if (algorithm !== "crc64nvme") return { algorithm, type };
    throw new S3Error("InvalidRequest", "x-amz-checksum-type COMPOSITE does not go with CRC64NVME");
  }
  if (!canBeFullObject(algorithm)) {
    throw new S3Error("InvalidRequest", "x-amz-checksum-type FULL_OBJECT goes with the CRC algorithms only");
  }
  return { algorithm, type };
}

/** The checksums of a part, as JSON for the index; null where there is none. */
export function partChecksums(digests: ReadonlyMap<DigestAlgorithm, string>): string | null {
  const stored: Record<string, string> = {};
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const hex = digests.get(algorithm);
    if (hex !== undefined) stored[algorithm] = Buffer.from(hex, "hex").toString("base64");
  }
  return Object.keys(stored).length === 0 ? null : JSON.stringify(stored);
}

/** The checksums that an XML element states, in base64 by their algorithm. */
export function checksumsIn(xml: XmlElement): Record<string, string> {
  return stated((algorithm) => childWord(xml, `Checksum${algorithm.toUpperCase()}`));
}

/**
 * The checksum of the whole object that the headers of a complete state, in base64 by its algorithm, perhaps with its
 * type.
 *
 * @throws {S3Error} InvalidRequest for one that is malformed and for several, NotImplemented for others
 */
export function checksumsOf(headers: Headers): Record<string, string> {
  for (const name of headers.keys()) {
    if (name.startsWith("x-amz-checksum-") && !ABOUT_CHECKSUMS.test(name) && !checksumAlgorithm(name)) {
      throw new S3Error("NotImplemented", `The header ${name} is not provided`);
    }
  }
  const checksums = stated((algorithm) => headers.get(`x-amz-checksum-${algorithm}`));
  const values = Object.entries(checksums);
  if (values.length > 1) throw new S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header");
  for (const [algorithm, value] of values) {
    const digest = value.replace(/-[1-9][0-9]{0,4}$/, "");
    if (digestFromBase64(digest, CHECKSUM_BYTES[algorithm as ChecksumAlgorithm]) === null) {
      throw new S3Error("InvalidRequest", `Value for x-amz-checksum-${algorithm} header is invalid.`);
    }
  }
  const type = statedType(headers);
  return type === null ? checksums : { ...checksums, type };
}

/** Stored checksums as XML elements of a response. */
export function checksumElements(checksums: Readonly<Record<string, string>>): string {
  const elements = CHECKSUM_ALGORITHMS.map((algorithm) =>
    checksums[algorithm] === undefined ? "" : element(`Checksum${algorithm.toUpperCase()}`, checksums[algorithm])
  );
  if (checksums.type !== undefined) elements.push(element("ChecksumType", checksums.type));
  return elements.join("");
}

/** The wire names of an upload's algorithm and type, as elements. */
export function checksumKind(algorithm: string | null, type: string | null): string {
  if (algorithm === null) return "";
  return element("ChecksumAlgorithm", algorithm.toUpperCase()) + (type ? element("ChecksumType", type) : "");
}

function stated(read: (algorithm: ChecksumAlgorithm) => string | null): Record<string, string> {
  const checksums: Record<string, string> = {};
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const value = read(algorithm);
    if (value !== null) checksums[algorithm] = value;
  }
  return checksums;
}
