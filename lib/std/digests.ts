import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { startCrc32c } from "./crc32c.ts";
import { startCrc64nvme } from "./crc64nvme.ts";
import type { Digest } from "./digest.ts";

/** The digest algorithms of S3 and of BagIt. */
export type DigestAlgorithm = "md5" | "sha1" | "sha256" | "sha512" | "crc32" | "crc32c" | "crc64nvme";

/** Starts a digest. */
export function startDigest(algorithm: DigestAlgorithm): Digest {
  switch (algorithm) {
    case "crc32":
      return startCrc32();
    case "crc32c":
      return startCrc32c();
    case "crc64nvme":
      return startCrc64nvme();
  }
  const hash = createHash(algorithm);
  return { update: (part) => void hash.update(part), hex: () => hash.digest("hex") };
}

function startCrc32(): Digest {
  let value = 0;
  return {
    update: (part) => value = crc32(part, value),
    hex: () => value.toString(16).padStart(8, "0"),
  };
}
