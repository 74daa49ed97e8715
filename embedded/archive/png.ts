import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";

const deflateInBackground = promisify<Uint8Array, { level: number }, Uint8Array>(deflate);
const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const COMPRESSION_LEVEL = 6;

/**
 * An 8-bit greyscale PNG of `width * height` pixels, row by row from the top (PNG specification, third edition).
 * Throws `RangeError` when the pixels do not fill the image exactly.
 */
export async function greyscalePng(
  width: number,
  height: number,
  pixels: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  if (pixels.length !== width * height) throw new RangeError("pixels do not fill the image");
  const rows = new Uint8Array(height * (width + 1));
  // Each row begins with its filter byte, 0: none.
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8;
  const compressed = await deflateInBackground(rows, { level: COMPRESSION_LEVEL });
  return joined([SIGNATURE, chunk("IHDR", header), chunk("IDAT", compressed), chunk("IEND", new Uint8Array(0))]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
