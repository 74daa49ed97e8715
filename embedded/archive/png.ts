import { crc32, deflateSync } from "node:zlib";
import { joinedBytes } from "@/lib/std/joined_bytes.ts";

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const COMPRESSION_LEVEL = 9;

/**
 * An 8-bit palette PNG of `width * height` indexes, row by row from the top (PNG specification, third edition).
 *
 * @param palette red, green and blue of each index
 * @throws {RangeError} when the indexes do not fill the image exactly
 */
export function palettePng(
  width: number,
  height: number,
  pixels: Uint8Array,
  palette: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (pixels.length !== width * height) throw new RangeError("pixels do not fill the image");
  const rows = new Uint8Array(height * (width + 1));
  let to = 0;
  for (let y = 0, at = 0; y < height; y++) {
    // Each row begins with its filter byte, 2: the difference to the row above. The paper's rows are alike.
    rows[to++] = 2;
    for (let x = 0; x < width; x++, at++) rows[to++] = y === 0 ? pixels[at] : pixels[at] - pixels[at - width];
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  // Eight bits for each pixel, colour type 3: an index into the palette.
  header.set([8, 3], 8);
  const compressed = deflateSync(rows, { level: COMPRESSION_LEVEL });
  return joinedBytes([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", compressed),
    chunk("IEND", new Uint8Array(0)),
  ]);
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
