import { badRequest } from "@/lib/http/errors.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";

/** Digests of a whole body by request header (S3 API, checking object integrity). */
const DIGESTS: Readonly<Record<string, DigestAlgorithm>> = {
  "content-md5": "md5",
  "x-amz-checksum-sha1": "sha1",
  "x-amz-checksum-sha256": "sha256",
  "x-amz-checksum-crc32": "crc32",
  "x-amz-checksum-crc32c": "crc32c",
  "x-amz-checksum-crc64nvme": "crc64nvme",
};

/** The request headers with a digest of the body, in lower case. */
export const DIGEST_HEADERS: readonly string[] = Object.keys(DIGESTS);

/** Digests of a body that streams. */
interface BodyDigests {
  /** Takes the next bytes. */
  update(bytes: Uint8Array): void;
  /** @throws HttpError 400 naming the header whose digest is not that of the bytes */
  check(): void;
}

/**
 * The digests of a body that goes in parts. The store never has the body in one request, so the digests that the client
 * sent for it are checked here.
 */
export function bodyDigests(headers: Headers): BodyDigests {
  const stated = Object.entries(DIGESTS).flatMap(([name, algorithm]) => {
    const value = headers.get(name);
    return value === null ? [] : [{ name, value: value.trim(), digest: startDigest(algorithm) }];
  });
  return {
    update(bytes) {
      for (const { digest } of stated) digest.update(bytes);
    },
    check() {
      for (const { name, value, digest } of stated) {
        if (Uint8Array.fromHex(digest.hex()).toBase64() !== value) {
          throw badRequest(`${name}: does not match the body`);
        }
      }
    },
  };
}
