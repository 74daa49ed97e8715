import assert from "node:assert/strict";
import fc from "fast-check";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";

/** The check values of the catalogues of CRCs: of the nine digits below. */
const CHECKS: [DigestAlgorithm, string][] = [
  ["crc32", "cbf43926"],
  ["crc32c", "e3069283"],
  ["crc64nvme", "ae8b14860a799888"],
];

Deno.test("digests: the checksums have their published check values", () => {
  for (const [algorithm, hex] of CHECKS) {
    const digest = startDigest(algorithm);
    digest.update(new TextEncoder().encode("123456789"));
    assert.equal(digest.hex(), hex);
    assert.match(startDigest(algorithm).hex(), /^0+$/);
  }
});

Deno.test("digests: however a body is cut, its checksum is that of its bits one by one", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (parts) => {
    const whole = parts.flatMap((part) => [...part]);
    for (const [algorithm, bits, polynomial] of POLYNOMIALS) {
      const digest = startDigest(algorithm);
      for (const part of parts) digest.update(part);
      assert.equal(digest.hex(), bitwise(whole, bits, polynomial));
    }
  }));
});

const POLYNOMIALS: [DigestAlgorithm, number, bigint][] = [
  ["crc32c", 32, 0x82f63b78n],
  ["crc64nvme", 64, 0x9a6c9329ac4bc9b5n],
];

function bitwise(bytes: number[], bits: number, polynomial: bigint): string {
  const ones = (1n << BigInt(bits)) - 1n;
  let value = ones;
  for (const byte of bytes) {
    value ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n;
  }
  return (value ^ ones).toString(16).padStart(bits / 4, "0");
}
