import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** The digests that the store can make of a body. */
export type DigestAlgorithm = "md5" | "sha1" | "sha256" | "crc32";

/** A digest of bytes that arrive in parts. */
export interface Digest {
  update(part: Uint8Array): void;
  /** Hexadecimal, in lower case. */
  hex(): string;
}

/** Begins a digest. */
export function startDigest(algorithm: DigestAlgorithm): Digest {
  if (algorithm === "crc32") {
    let value = 0;
    return {
      update: (part) => value = crc32(part, value),
      hex: () => value.toString(16).padStart(8, "0"),
    };
  }
  const hash = createHash(algorithm);
  return { update: (part) => void hash.update(part), hex: () => hash.digest("hex") };
}
