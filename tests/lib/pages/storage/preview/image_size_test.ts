import fc from "fast-check";
import assert from "node:assert/strict";
import { imageSize, tiffSize } from "@/lib/pages/storage/preview/image_size.ts";

type Field = string | number | readonly [bytes: number, value: number, order?: "little"];

/** Bytes of texts with a byte for each character, of single bytes, and of numbers of several bytes. */
function bytes(...fields: readonly Field[]): Uint8Array {
  return new Uint8Array(fields.flatMap((field) => {
    if (typeof field === "string") return [...field].map((character) => character.charCodeAt(0));
    if (typeof field === "number") return [field];
    const [length, value, order] = field;
    const all = Array.from({ length }, (_, index) => Math.floor(value / 256 ** (length - 1 - index)) % 256);
    return order === "little" ? all.reverse() : all;
  }));
}

/** The Exif segment of a JPEG whose orientation is this. */
function exif(orientation: number): Uint8Array {
  return bytes(
    ...["\xff\xe1", [2, 30] as const, "Exif\0\0MM", [2, 42] as const, [4, 8] as const, [2, 1] as const],
    ...[[2, 0x0112] as const, [2, 3] as const, [4, 1] as const, [2, orientation] as const, [2, 0] as const],
  );
}

const JPEG_TABLE = bytes("\xff\xdb", [2, 5], 0, 1, 2);

/** Each kind of image with a size, which its own limits bound. */
const IMAGES: Readonly<Record<string, (width: number, height: number) => Uint8Array>> = {
  PNG: (width, height) => bytes("\x89PNG\r\n\x1a\n", [4, 13], "IHDR", [4, width], [4, height], 8, 2, 0, 0, 0),
  GIF: (width, height) => bytes("GIF89a", [2, width, "little"], [2, height, "little"], 0, 0, 0),
  JPEG: (width, height) =>
    bytes("\xff\xd8", ...JPEG_TABLE, "\xff\xc2", [2, 11], 8, [2, height], [2, width], 1, 1, 0x11, 0),
  "WebP, lossy": (width, height) =>
    bytes("RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a", [2, width, "little"], [2, height, "little"]),
  "WebP, lossless": (width, height) =>
    bytes("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f", [4, (height - 1) * 2 ** 14 + width - 1, "little"]),
  "WebP, extended": (width, height) =>
    bytes("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0", [3, width - 1, "little"], [3, height - 1, "little"]),
  BMP: (width, height) =>
    bytes("BM", [8, 0], [4, 54, "little"], [4, 40, "little"], [4, width, "little"], [4, 2 ** 32 - height, "little"]),
  "JPEG 2000": (width, height) =>
    bytes(
      ...["\0\0\0\x0cjP  \r\n\x87\n", [4, 20] as const, "ftypjp2 ", [4, 0] as const, "jp2 "],
      ...[[4, 45] as const, "jp2h", [4, 22] as const, "ihdr", [4, height] as const, [4, width] as const],
      ...Array.from({ length: 21 }, () => 0),
    ),
  "JPEG 2000 codestream": (width, height) =>
    bytes("\xff\x4f\xff\x51", [2, 41], [2, 0], [4, width], [4, height], [4, 0], [4, 0]),
};

const side = fc.integer({ min: 1, max: 0x3fff });

Deno.test("image size: of every kind that browsers show, and of JPEG 2000", () => {
  for (const [kind, image] of Object.entries(IMAGES)) {
    fc.assert(
      fc.property(side, side, (width, height) => {
        assert.deepEqual(imageSize(image(width, height)), { width, height }, kind);
      }),
    );
  }
});

Deno.test("image size: a JPEG that is turned by a quarter has the sides that are seen", () => {
  const jpeg = IMAGES.JPEG(30, 20);
  const turned = (segment: Uint8Array) => imageSize(bytes("\xff\xd8", ...segment, ...jpeg.subarray(2)));
  for (const orientation of [1, 4]) assert.deepEqual(turned(exif(orientation)), { width: 30, height: 20 });
  for (const orientation of [5, 8]) assert.deepEqual(turned(exif(orientation)), { width: 20, height: 30 });
  assert.equal(turned(bytes("\xff\xe1", [2, 60_000])), null, "metadata beyond the bytes that were read");
});

Deno.test("image size: what is no image, or ends before its size, or has an empty side, has none", () => {
  for (const image of [new Uint8Array(), bytes("no image"), bytes("RIFF\0\0\0\0WAVEfmt "), bytes("\xff\xd8\xff\xd9")]) {
    assert.equal(imageSize(image), null);
  }
  for (const [kind, image] of Object.entries(IMAGES)) {
    const whole = image(300, 200);
    for (let length = 0; length < 10; length++) assert.equal(imageSize(whole.subarray(0, length)), null, kind);
  }
  for (const kind of ["PNG", "GIF", "JPEG", "BMP"]) assert.equal(imageSize(IMAGES[kind](0, 5)), null, kind);
});

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count?: number;
  readonly value: number;
}

/** A TIFF file with one directory at an offset. */
function tiff({ isLittle = true, isBig = false, offset = isBig ? 16 : 8, count, entries }: {
  readonly isLittle?: boolean;
  readonly isBig?: boolean;
  readonly offset?: number;
  readonly count?: number;
  readonly entries: readonly Entry[];
}): Uint8Array {
  const [countBytes, entryBytes] = isBig ? [8, 20] : [2, 12];
  const file = new Uint8Array(offset + countBytes + entries.length * entryBytes);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode(isLittle ? "II" : "MM"));
  view.setUint16(2, isBig ? 43 : 42, isLittle);
  if (isBig) view.setUint16(4, 8, isLittle);
  const wide = (at: number, value: number) => view.setBigUint64(at, BigInt(value), isLittle);
  if (isBig) wide(8, offset);
  else view.setUint32(4, offset, isLittle);
  if (isBig) wide(offset, count ?? entries.length);
  else view.setUint16(offset, count ?? entries.length, isLittle);
  for (const [index, { tag, type, count: values = 1, value }] of entries.entries()) {
    const at = offset + countBytes + index * entryBytes;
    view.setUint16(at, tag, isLittle);
    view.setUint16(at + 2, type, isLittle);
    if (isBig) wide(at + 4, values);
    else view.setUint32(at + 4, values, isLittle);
    const place = at + (isBig ? 12 : 8);
    if (type === 3) view.setUint16(place, value, isLittle);
    else if (type === 4) view.setUint32(place, value, isLittle);
    else if (type === 16 && isBig) wide(place, value);
  }
  return file;
}

/** How a file is read: its parts, and how many bytes of it in all. */
function readerOf(file: Uint8Array) {
  const reads: number[] = [];
  return {
    reads,
    read(from: number, length: number) {
      const part = file.subarray(from, from + length);
      reads.push(part.length);
      return Promise.resolve(part);
    },
  };
}

const sizeEntries = (width: number, height: number, type = 4): Entry[] => [
  { tag: 254, type: 4, value: 0 },
  { tag: 256, type, value: width },
  { tag: 257, type, value: height },
];

Deno.test("TIFF: the size in either byte order, classic and BigTIFF, wherever the directory stands", async () => {
  const size = fc.integer({ min: 1, max: 0xffff });
  const layout = fc.record({ isLittle: fc.boolean(), isBig: fc.boolean(), gap: fc.nat(20_000) });
  await fc.assert(
    fc.asyncProperty(size, size, fc.constantFrom(3, 4), layout, async (width, height, type, { gap, ...rest }) => {
      const { reads, read } = readerOf(tiff({ ...rest, offset: 16 + gap, entries: sizeEntries(width, height, type) }));
      assert.deepEqual(await tiffSize(read), { width, height });
      assert.ok(reads.length <= 2 && reads.every((bytes) => bytes <= 4096));
    }),
  );
  const big = tiff({ isBig: true, entries: sizeEntries(2 ** 33, 7, 16) });
  assert.deepEqual(await tiffSize(readerOf(big).read), { width: 2 ** 33, height: 7 });
});

Deno.test("TIFF: what is no TIFF, or points to nowhere, has no size", async () => {
  const nowhere = tiff({ entries: sizeEntries(5, 5) });
  new DataView(nowhere.buffer).setUint32(4, 0xfffffff0, true);
  const files = [
    new Uint8Array(),
    new TextEncoder().encode("II but not an image at all"),
    nowhere,
    tiff({ entries: [] }),
    tiff({ entries: sizeEntries(0, 5) }),
    tiff({ entries: [{ tag: 256, type: 4, count: 2, value: 5 }, { tag: 257, type: 2, value: 5 }] }),
  ];
  for (const file of files) assert.equal(await tiffSize(readerOf(file).read), null);
});
