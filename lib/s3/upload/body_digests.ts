import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { badRequest } from "@/lib/http/errors.ts";

/** Headers that state a digest of a whole body (S3 API, checking object integrity). */
const STATED: Readonly<Record<string, (() => Digest) | null>> = {
  "content-md5": () => hashed("md5"),
  "x-amz-checksum-sha1": () => hashed("sha1"),
  "x-amz-checksum-sha256": () => hashed("sha256"),
  "x-amz-checksum-crc32": () => summed(),
  // What no library of the runtime computes, only the store can check: in one piece.
  "x-amz-checksum-crc32c": null,
  "x-amz-checksum-crc64nvme": null,
};

/** The names of headers that state a digest of a body, in lower case. */
export const DIGEST_HEADERS: readonly string[] = Object.keys(STATED);

/** Digests of a body that passes by. */
interface BodyDigests {
  /** Takes the next bytes. */
  update(bytes: Uint8Array): void;
  /** @throws HttpError 400 naming the header whose digest is not that of the bytes */
  check(): void;
}

/**
 * The digests that a writer stated for a body that reaches the store in parts: the store sees no whole, so what is
 * stated of the whole is checked here.
 *
 * @throws HttpError 400 naming a header that cannot be checked here
 */
export function bodyDigests(headers: Headers): BodyDigests {
  const stated: { readonly name: string; readonly value: string; readonly digest: Digest }[] = [];
  for (const [name, make] of Object.entries(STATED)) {
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
