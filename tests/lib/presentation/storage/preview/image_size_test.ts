import assert from "node:assert/strict";
import fc from "fast-check";

import { IMAGE_HEAD_BYTES, imageSize } from "@/lib/presentation/storage/preview/image_size.ts";

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
function exif(orientation: number, order?: "little"): Uint8Array {
  const u = (length: number, value: number): Field => [length, value, order];
  return bytes(
    ...["\xff\xe1", [2, 30] as const, "Exif\0\0", order ? "II" : "MM", u(2, 42), u(4, 8), u(2, 1)],
    ...[u(2, 0x0112), u(2, 3), u(4, 1), u(2, orientation), u(2, 0)],
  );
}

const JPEG_TABLE = bytes("\xff\xdb", [2, 5], 0, 1, 2);

/** Each kind of image with a size, which its own limits bound. */
const IMAGES: Readonly<Record<string, (width: number, height: number) => Uint8Array>> = {
  PNG: (width, height) => bytes("\x89PNG\r\n\x1a\n", [4, 13], "IHDR", [4, width], [4, height], 8, 2, 0, 0, 0),
  GIF: (width, height) => bytes("GIF89a", [2, width, "little"], [2, height, "little"], 0, 0, 0),
  JPEG: (width, height) =>
    bytes("\xff\xd8", ...JPEG_TABLE, "\xff\xff\xff\xc2", [2, 11], 8, [2, height], [2, width], 1, 1, 0x11, 0),
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
    ),
  "JPEG 2000 codestream": (width, height) =>
    bytes("\xff\x4f\xff\x51", [2, 41], [2, 0], [4, width + 3], [4, height + 5], [4, 3], [4, 5]),
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
  for (const order of [undefined, "little"] as const) {
    for (const orientation of [1, 2, 3, 4]) {
      assert.deepEqual(turned(exif(orientation, order)), { width: 30, height: 20 });
    }
    for (const orientation of [5, 6, 7, 8]) {
      assert.deepEqual(turned(exif(orientation, order)), { width: 20, height: 30 });
    }
  }
  assert.equal(turned(bytes("\xff\xe1", [2, 60_000])), null, "metadata beyond the bytes that were read");
});

Deno.test("image size: what is no image, or ends before its size, or has an empty side, has none", () => {
  for (const image of [new Uint8Array(), bytes("no image"), bytes("RIFF\0\0\0\0WAVEfmt "), bytes("\xff\xd8\xff\xd9")]) {
    assert.equal(imageSize(image), null);
  }
  for (const [kind, image] of Object.entries(IMAGES)) {
    const whole = image(300, 200);
    const end = Array.from({ length: whole.length }, (_, length) => imageSize(whole.subarray(0, length)));
    assert.ok(end.slice(0, 10).every((size) => size === null), kind);
    for (const size of end) if (size !== null) assert.deepEqual(size, { width: 300, height: 200 }, kind);
  }
  for (const kind of ["PNG", "GIF", "JPEG", "BMP"]) assert.equal(imageSize(IMAGES[kind](0, 5)), null, kind);
});

Deno.test("image size: any bytes behind a right beginning are read without an error, and in bounded steps", () => {
  const beginning = fc.constantFrom(...Object.values(IMAGES).map((image) => image(1, 1)));
  fc.assert(
    fc.property(beginning, fc.nat(40), fc.uint8Array({ maxLength: 300 }), (start, length, rest) => {
      imageSize(new Uint8Array([...start.subarray(0, length), ...rest]));
    }),
  );
  assert.equal(imageSize(new Uint8Array(IMAGE_HEAD_BYTES).fill(0xff).fill(0xd8, 1, 2)), null);
  const boxes = new Uint8Array(IMAGE_HEAD_BYTES);
  boxes.set(bytes("\0\0\0\x0cjP  \r\n\x87\n"));
  for (let at = 12; at + 8 <= boxes.length; at += 8) boxes.set(bytes([4, 8], "free"), at);
  assert.equal(imageSize(boxes), null);
});
