import { Buffer } from "node:buffer";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";

/** A checksum as S3 writes it. */
export function checksum(algorithm: DigestAlgorithm, body: Uint8Array | string): string {
  const digest = startDigest(algorithm);
  digest.update(typeof body === "string" ? new TextEncoder().encode(body) : body);
  return Buffer.from(digest.hex(), "hex").toString("base64");
}
