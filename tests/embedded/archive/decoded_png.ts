import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { crc32, inflateSync } from "node:zlib";

/** Decodes an 8-bit greyscale PNG without filters, checking signature, order of chunks, checksums and lengths. */
export function decodedPng(bytes: Uint8Array): { width: number; height: number; pixels: Uint8Array } {
  const data = Buffer.from(bytes);
  assert.equal(data.subarray(0, 8).toString("hex"), "89504e470d0a1a0a");
  const chunks: { type: string; body: Buffer }[] = [];
  for (let at = 8; at < data.length;) {
    const length = data.readUInt32BE(at);
    const named = data.subarray(at + 4, at + 8 + length);
    assert.equal(data.readUInt32BE(at + 8 + length), crc32(named));
    chunks.push({ type: named.subarray(0, 4).toString("latin1"), body: named.subarray(4) });
    at += 12 + length;
  }
  assert.deepEqual(chunks.map(({ type }) => type), ["IHDR", "IDAT", "IEND"]);
  const [header, image] = chunks;
  const width = header.body.readUInt32BE(0);
  const height = header.body.readUInt32BE(4);
  assert.deepEqual([...header.body.subarray(8)], [8, 0, 0, 0, 0]);
  const rows = inflateSync(image.body);
  assert.equal(rows.length, height * (width + 1));
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    assert.equal(rows[y * (width + 1)], 0);
    pixels.set(rows.subarray(y * (width + 1) + 1, (y + 1) * (width + 1)), y * width);
  }
  return { width, height, pixels };
}
