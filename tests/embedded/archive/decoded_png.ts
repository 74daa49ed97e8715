import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { crc32, inflateSync } from "node:zlib";

interface DecodedPng {
  readonly width: number;
  readonly height: number;
  /** Indexes of the palette. */
  readonly pixels: Uint8Array;
  readonly palette: Uint8Array;
}

/** Decodes an 8-bit palette PNG whose rows are filtered by Up, checking signature, order of chunks, checksums and lengths. */
export function decodedPng(bytes: Uint8Array): DecodedPng {
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
  assert.deepEqual(chunks.map(({ type }) => type), ["IHDR", "PLTE", "IDAT", "IEND"]);
  const [header, palette, image] = chunks;
  const width = header.body.readUInt32BE(0);
  const height = header.body.readUInt32BE(4);
  assert.deepEqual([...header.body.subarray(8)], [8, 3, 0, 0, 0]);
  const rows = inflateSync(image.body);
  assert.equal(rows.length, height * (width + 1));
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    assert.equal(rows[y * (width + 1)], 2);
    for (let x = 0; x < width; x++) {
      pixels[y * width + x] = rows[y * (width + 1) + 1 + x] + (y > 0 ? pixels[(y - 1) * width + x] : 0);
    }
  }
  assert.ok(pixels.every((index) => index * 3 < palette.body.length));
  return { width, height, pixels, palette: new Uint8Array(palette.body) };
}
