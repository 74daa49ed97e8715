/** Bytes that are read of an image for its size: enough, except for a JPEG with long metadata in front. */
export const IMAGE_HEAD_BYTES = 64 * 1024;
/** Boxes of a JPEG 2000 file, and entries of an Exif or TIFF directory, that are looked at. */
const MAX_ENTRIES = 100;

/** Signatures of images, with the function that reads the size. */
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
 * The displayed size of a PNG, GIF, JPEG, WebP, BMP or JPEG 2000 image, by its first bytes. A JPEG that its Exif data turn
 * by a quarter has the sides of the turned image.
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
    // Only these markers before the frame have no length.
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

/** Size of an image. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Reads bytes of a file; fewer where it ends before. */
type ReadBytes = (from: number, length: number) => Promise<Uint8Array>;

/** Bytes that are read first: most files with the directory in front hold it there. */
const HEAD_BYTES = 4096;
const WIDTH = 256;
const HEIGHT = 257;

/**
 * The size of the first image of a TIFF file (TIFF 6.0, section 2) or a BigTIFF file, by at most two reads of a few
 * kilobytes.
 *
 * @returns null for any other file, and for one whose directory cannot be read
 */
export async function tiffSize(read: ReadBytes): Promise<PixelSize | null> {
  const head = await read(0, HEAD_BYTES);
  const layout = layoutOf(head);
  if (layout === null) return null;
  const { offset, countBytes, entryBytes } = layout;
  const length = countBytes + MAX_ENTRIES * entryBytes;
  const directory = offset + length <= head.length ? head.subarray(offset) : await read(offset, length);
  if (directory.length < countBytes) return null;
  const view = viewOf(directory);
  const count = countBytes === 2 ? view.getUint16(0, layout.isLittle) : integer(view, 0, layout.isLittle);
  const whole = Math.floor((directory.length - countBytes) / entryBytes);
  let [width, height] = [0, 0];
  for (let entry = 0; entry < Math.min(count, whole, MAX_ENTRIES); entry++) {
    const at = countBytes + entry * entryBytes;
    const tag = view.getUint16(at, layout.isLittle);
    if (tag === WIDTH) width = valueOf(view, at, layout);
    if (tag === HEIGHT) height = valueOf(view, at, layout);
  }
  return width > 0 && height > 0 ? { width, height } : null;
}

interface Layout {
  readonly isLittle: boolean;
  /** Position of the first directory. */
  readonly offset: number;
  readonly countBytes: 2 | 8;
  readonly entryBytes: 12 | 20;
}

function layoutOf(head: Uint8Array): Layout | null {
  if (head.length < 16) return null;
  const order = String.fromCharCode(head[0], head[1]);
  if (order !== "II" && order !== "MM") return null;
  const isLittle = order === "II";
  const view = viewOf(head);
  const version = view.getUint16(2, isLittle);
  if (version === 42) {
    const offset = view.getUint32(4, isLittle);
    return offset < 8 ? null : { isLittle, offset, countBytes: 2, entryBytes: 12 };
  }
  if (version !== 43 || view.getUint16(4, isLittle) !== 8) return null;
  const offset = integer(view, 8, isLittle);
  return offset < 16 ? null : { isLittle, offset, countBytes: 8, entryBytes: 20 };
}

/** The value of an entry with one number, which stands in the entry itself; 0 for any other. */
function valueOf(view: DataView, at: number, { isLittle, countBytes }: Layout): number {
  const isBig = countBytes === 8;
  const count = isBig ? integer(view, at + 4, isLittle) : view.getUint32(at + 4, isLittle);
  if (count !== 1) return 0;
  const value = at + (isBig ? 12 : 8);
  switch (view.getUint16(at + 2, isLittle)) {
    case 3:
      return view.getUint16(value, isLittle);
    case 4:
      return view.getUint32(value, isLittle);
    case 16:
      return isBig ? integer(view, value, isLittle) : 0;
    default:
      return 0;
  }
}

/** Eight bytes as a number; 0 for one that no number holds exactly. */
function integer(view: DataView, at: number, isLittle: boolean): number {
  const value = Number(view.getBigUint64(at, isLittle));
  return Number.isSafeInteger(value) ? value : 0;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
