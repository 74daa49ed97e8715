import { BMP } from "image-size/types/bmp";
import { GIF } from "image-size/types/gif";
import { J2C } from "image-size/types/j2c";
import { JP2 } from "image-size/types/jp2";
import { JPG } from "image-size/types/jpg";
import { PNG } from "image-size/types/png";
import { TIFF } from "image-size/types/tiff";
import { WEBP } from "image-size/types/webp";

/** Bytes that are read of an image for its size: enough, except for a JPEG with long metadata in front. */
export const IMAGE_HEAD_BYTES = 64 * 1024;
/** Bytes that are read of a TIFF file at a time: enough for the header with a directory of usual length. */
const TIFF_BYTES = 4096;
const TYPES = [PNG, GIF, JPG, WEBP, BMP, JP2, J2C, TIFF];

/** Size of an image. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The displayed size of a PNG, GIF, JPEG, WebP, BMP, JPEG 2000 or TIFF image, by its first bytes. A JPEG that its Exif data
 * turn by a quarter has the sides of the turned image.
 *
 * @param head at most {@linkcode IMAGE_HEAD_BYTES} bytes
 * @returns null for any other file, and where the size is not in these bytes
 */
export function imageSize(head: Uint8Array): PixelSize | null {
  // The library reads to the end of a buffer, which may hold more than these bytes.
  const bytes = head.slice();
  try {
    const size = TYPES.find((type) => type.validate(bytes))?.calculate(bytes);
    if (!size || !(size.width > 0 && size.height > 0)) return null;
    const { width, height, orientation = 1 } = size;
    return orientation < 5 ? { width, height } : { width: height, height: width };
  } catch {
    // The file ends before its size, or is damaged.
    return null;
  }
}

/** Reads bytes of a file; fewer where it ends before. */
type ReadBytes = (from: number, length: number) => Promise<Uint8Array>;

/**
 * The size of the first image of a TIFF or BigTIFF file, whose directory may be anywhere: two reads at most.
 *
 * @returns null as {@linkcode imageSize}
 */
export async function tiffSize(read: ReadBytes): Promise<PixelSize | null> {
  const head = await read(0, TIFF_BYTES);
  if (head.length < 16) return null;
  const isLittle = head[0] === 0x49;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const isBig = view.getUint16(2, isLittle) === 43;
  const offset = isBig ? Number(view.getBigUint64(8, isLittle)) : view.getUint32(4, isLittle);
  const header = isBig ? 16 : 8;
  if (offset < header || !Number.isSafeInteger(offset)) return null;
  const isRead = offset + TIFF_BYTES / 2 <= head.length;
  const directory = isRead ? head.subarray(offset) : await read(offset, TIFF_BYTES);
  // The same file with its directory right behind the header. The library wants a byte behind the last entry.
  const file = new Uint8Array([...head.subarray(0, header), ...directory, 0]);
  const start = new DataView(file.buffer);
  if (isBig) start.setBigUint64(8, BigInt(header), isLittle);
  else start.setUint32(4, header, isLittle);
  return imageSize(file);
}
