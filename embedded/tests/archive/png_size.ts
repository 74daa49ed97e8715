import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

/** The size that the header of a PNG states, in pixels. */
export function pngSize(bytes: Uint8Array): { width: number; height: number } {
  const data = Buffer.from(bytes);
  assert.equal(data.subarray(0, 8).toString("hex"), "89504e470d0a1a0a");
  assert.equal(data.subarray(12, 16).toString("latin1"), "IHDR");
  return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
}
