import type { PixelSize } from "./tiff_size.ts";

/** Bytes of the beginning of an image that hold its size, but for a JPEG with long metadata in front. */
export const IMAGE_HEAD_BYTES = 64 * 1024;
/** Boxes of a JPEG 2000 file, and entries of an Exif directory, that are looked at. */
const MAX_ENTRIES = 100;

/** Where a kind of image begins with these characters, and what reads its size. */
const READERS: readonly (readonly [start: string, read: (view: DataView) => PixelSize | null])[] = [
  ["\x89PNG\r\n\x1a\n", pngSize],
  ["GIF87a", gifSize],
  ["GIF89a", gifSize],
  ["\xff\xd8", jpegSize],
  ["RIFF", webpSize],
  ["BM", bmpSize],
  ["\0\0\0\x0cjP  \r\n\x87\n", jp2Size],
  ["\xff\x4f\xff\x51", codestreamSize],
];

/**
 * The size at which a PNG, GIF, JPEG, WebP, BMP or JPEG 2000 image is shown, by its beginning. A JPEG that its Exif data
 * turns by a quarter has the sides of the turned image.
 *
 * @param head at most {@linkcode IMAGE_HEAD_BYTES} bytes
 * @returns null for any other file, and where the size is not in these bytes
 */
export function imageSize(head: Uint8Array): PixelSize | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const reader = READERS.find(([start]) => hasText(view, 0, start));
  try {
    return reader?.[1](view) ?? null;
  } catch (error) {
    // The image ends before its size.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function pngSize(view: DataView): PixelSize | null {
  return hasText(view, 12, "IHDR") ? sized(view.getUint32(16), view.getUint32(20)) : null;
}

function gifSize(view: DataView): PixelSize | null {
  return sized(view.getUint16(6, true), view.getUint16(8, true));
}

function bmpSize(view: DataView): PixelSize | null {
  // Its rows may stand from top to bottom, which a negative height says.
  return view.getUint32(14, true) < 40 ? null : sized(view.getInt32(18, true), Math.abs(view.getInt32(22, true)));
}

/** RFC 9649: one of three kinds of chunks comes first. */
function webpSize(view: DataView): PixelSize | null {
  if (!hasText(view, 8, "WEBP")) return null;
  if (hasText(view, 12, "VP8X")) return sized(uint24(view, 24) + 1, uint24(view, 27) + 1);
  if (hasText(view, 12, "VP8L")) {
    if (view.getUint8(20) !== 0x2f) return null;
    const bits = view.getUint32(21, true);
    return sized((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
  }
  if (!hasText(view, 12, "VP8 ") || !hasText(view, 23, "\x9d\x01\x2a")) return null;
  return sized(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
}

/** ITU-T T.81, B.1: segments up to the frame header. */
function jpegSize(view: DataView): PixelSize | null {
  let isTurned = false;
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    // A marker may be preceded by any number of fill bytes.
    if (marker === 0xff) {
      at++;
      continue;
    }
    // Of the markers that begin before the frame, only these have no length.
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9)) return null;
    const length = view.getUint16(at + 2);
    if (length < 2) return null;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return isTurned ? sized(height, width) : sized(width, height);
    }
    if (marker === 0xe1 && hasText(view, at + 4, "Exif\0\0")) isTurned = isTurnedBy(view, at + 10, at + 2 + length);
    at += 2 + length;
  }
  return null;
}

/** Whether Exif data between two offsets turn the image by a quarter: values 5 to 8 of its orientation. */
function isTurnedBy(view: DataView, start: number, end: number): boolean {
  if (end > view.byteLength || end - start < 8) return false;
  const isLittle = hasText(view, start, "II");
  const directory = start + view.getUint32(start + 4, isLittle);
  if (directory + 2 > end) return false;
  const count = Math.min(view.getUint16(directory, isLittle), MAX_ENTRIES);
  for (let at = directory + 2; at < directory + 2 + count * 12 && at + 12 <= end; at += 12) {
    if (view.getUint16(at, isLittle) === 0x0112) return view.getUint16(at + 8, isLittle) >= 5;
  }
  return false;
}

/** ISO 15444-1, annex I: the box `ihdr` is the first in the box `jp2h`. */
function jp2Size(view: DataView): PixelSize | null {
  for (let at = 0, box = 0; box < MAX_ENTRIES; box++) {
    if (hasText(view, at + 4, "jp2h")) {
      return hasText(view, at + 12, "ihdr") ? sized(view.getUint32(at + 20), view.getUint32(at + 16)) : null;
    }
    const length = view.getUint32(at);
    // A box of this length has its length elsewhere, or is the last one: neither stands in front of `jp2h`.
    if (length < 8) return null;
    at += length;
  }
  return null;
}

/** ISO 15444-1, A.5.1: the image is what is right of and below its offset. */
function codestreamSize(view: DataView): PixelSize | null {
  return sized(view.getUint32(8) - view.getUint32(16), view.getUint32(12) - view.getUint32(20));
}

function sized(width: number, height: number): PixelSize | null {
  return width > 0 && height > 0 ? { width, height } : null;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | view.getUint8(at + 2) << 16;
}

/** Whether bytes are those of a text, one for each character. */
function hasText(view: DataView, at: number, text: string): boolean {
  if (at + text.length > view.byteLength) return false;
  for (let index = 0; index < text.length; index++) {
    if (view.getUint8(at + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}
