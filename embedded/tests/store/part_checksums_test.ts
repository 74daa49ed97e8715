import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { canBeFullObject, objectChecksum } from "@/embedded/store/part_checksums.ts";
import { checksum } from "./checksum.ts";

Deno.test("checksums of parts: a composite is the digest of digests, with their number", () => {
  const parts = ["first", "second", ""].map((text) => new TextEncoder().encode(text));
  for (const algorithm of ["crc32", "sha1", "sha256"] as const) {
    const stated = parts.map((part) => ({ checksum: checksum(algorithm, part), size: part.length }));
    const digests = Buffer.concat(stated.map((part) => Buffer.from(part.checksum, "base64")));
    assert.equal(objectChecksum(algorithm, "COMPOSITE", stated), `${checksum(algorithm, digests)}-3`);
  }
});

Deno.test("checksums of parts: only the CRC family can be that of all bytes", () => {
  assert.deepEqual([canBeFullObject("crc32"), canBeFullObject("sha256"), canBeFullObject("md5")], [true, false, false]);
});

Deno.test("checksums of parts: many parts of many sizes are joined for every CRC", () => {
  const bytes = new Uint8Array(70_000).map((_, i) => (i * 131 + (i >> 5)) % 251);
  for (const algorithm of ["crc32", "crc32c", "crc64nvme"] as const) {
    const parts = [];
    for (let at = 0, size = 1; at < bytes.length; at += size, size = size * 3 % 4099) {
      const part = bytes.subarray(at, at + size);
      parts.push({ checksum: checksum(algorithm, part), size: part.length });
    }
    assert.equal(objectChecksum(algorithm, "FULL_OBJECT", parts), checksum(algorithm, bytes), algorithm);
  }
});
