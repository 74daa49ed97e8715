import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { badRequest } from "@/lib/http/errors.ts";

/** Digests of a whole body by request header (S3 API, checking object integrity). */
const DIGESTS: Readonly<Record<string, (() => Digest) | null>> = {
  "content-md5": () => hashed("md5"),
  "x-amz-checksum-sha1": () => hashed("sha1"),
  "x-amz-checksum-sha256": () => hashed("sha256"),
  "x-amz-checksum-crc32": () => summed(),
  // The runtime does not compute these: only the store can check them, in one PUT.
  "x-amz-checksum-crc32c": null,
  "x-amz-checksum-crc64nvme": null,
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
 *
 * @throws HttpError 400 naming a header that cannot be checked here
 */
export function bodyDigests(headers: Headers): BodyDigests {
  const stated: { readonly name: string; readonly value: string; readonly digest: Digest }[] = [];
  for (const [name, make] of Object.entries(DIGESTS)) {
    const value = headers.get(name);
    if (value === null) continue;
    if (!make) throw badRequest(`${name}: only checked for bodies of at most 5 GiB with a Content-Length`);
    stated.push({ name, value: value.trim(), digest: make() });
  }
  return {
    update(bytes) {
      for (const { digest } of stated) digest.update(bytes);
    },
    check() {
      for (const { name, value, digest } of stated) {
        if (digest.base64() !== value) throw badRequest(`${name}: does not match the body`);
      }
    },
  };
}

interface Digest {
  update(bytes: Uint8Array): void;
  base64(): string;
}

function hashed(algorithm: string): Digest {
  const hash: Hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), base64: () => hash.digest("base64") };
}

function summed(): Digest {
  let sum = 0;
  return {
    update: (bytes) => sum = crc32(bytes, sum),
    base64() {
      const bytes = new Uint8Array(4);
      new DataView(bytes.buffer).setUint32(0, sum);
      return bytes.toBase64();
    },
  };
}
