import { Buffer } from "node:buffer";
import type { DigestAlgorithm } from "@/lib/embedded/store/digests.ts";
import type { Caller } from "@/lib/embedded/store/s3/caller.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";

/** A digest that the sender states of a body. */
export interface StatedDigest {
  algorithm: DigestAlgorithm;
  hex: string;
  code: "BadDigest" | "XAmzContentSHA256Mismatch";
}

/** The digests that the client states of its body. Throws {@link S3Error} for those that are malformed or not provided. */
export function statedDigests(headers: Headers, caller: Caller): StatedDigest[] {
  const stated: StatedDigest[] = [];
  if (caller.payloadSha256) {
    stated.push({ algorithm: "sha256", hex: caller.payloadSha256, code: "XAmzContentSHA256Mismatch" });
  }
  const inBase64: [string, DigestAlgorithm, number][] = [
    ["content-md5", "md5", 16],
    ["x-amz-checksum-crc32", "crc32", 4],
    ["x-amz-checksum-sha1", "sha1", 20],
    ["x-amz-checksum-sha256", "sha256", 32],
  ];
  for (const [header, algorithm, bytes] of inBase64) {
    const value = headers.get(header);
    if (value === null) continue;
    const digest = Buffer.from(value, "base64");
    if (digest.length !== bytes || digest.toString("base64") !== value) {
      throw new S3Error("InvalidDigest", `The header ${header} is not valid`);
    }
    stated.push({ algorithm, hex: digest.toString("hex"), code: "BadDigest" });
  }
  for (const header of headers.keys()) {
    if (header.startsWith("x-amz-checksum-") && !inBase64.some(([known]) => known === header)) {
      throw new S3Error("NotImplemented", `The header ${header} is not provided`);
    }
  }
  return stated;
}
