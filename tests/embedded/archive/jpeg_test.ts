import assert from "node:assert/strict";
import fc from "fast-check";
import { paletteJpeg } from "@/embedded/archive/jpeg.ts";
import { anyImage } from "./any_image.ts";

const PALETTE = Uint8Array.from({ length: 256 * 3 }, (_, index) => index * 83);

/** The segments of a JPEG file by their markers, and the bytes of its scan. */
function segmentsOf(
  file: Uint8Array,
): { readonly segments: ReadonlyMap<number, Uint8Array>; readonly scan: Uint8Array } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const segments = new Map<number, Uint8Array>();
  assert.equal(view.getUint16(0), 0xffd8);
  let at = 2;
  for (let marker = 0; marker !== 0xda;) {
    assert.equal(file[at], 0xff);
    marker = file[at + 1];
    const length = view.getUint16(at + 2);
    segments.set(marker, file.subarray(at + 4, at + 2 + length));
    at += 2 + length;
  }
  assert.equal(view.getUint16(file.length - 2), 0xffd9);
  return { segments, scan: file.subarray(at, -2) };
}

Deno.test("jpeg: any image is a baseline file of its extent, whose scan holds no marker", () => {
  fc.assert(
    fc.property(anyImage, fc.boolean(), (image, isGrey) => {
      const { segments, scan } = segmentsOf(paletteJpeg(image, PALETTE, isGrey));
      const frame = segments.get(0xc0) ?? assert.fail();
      assert.deepEqual([...frame.subarray(0, 5)], [8, 0, image.height, 0, image.width]);
      assert.equal(frame[5], isGrey ? 1 : 3);
      assert.ok(scan.every((byte, at) => byte !== 0xff || scan[at + 1] === 0));
    }),
    { numRuns: 50 },
  );
});

Deno.test("jpeg: a large image of one colour takes few bytes, and one of noise is complete", () => {
  const [width, height] = [700, 500];
  const plain = paletteJpeg({ width, height, pixels: new Uint8Array(width * height) }, PALETTE, false);
  assert.ok(plain.length < 20_000, String(plain.length));
  const noise = Uint8Array.from({ length: width * height }, (_, at) => at * at * 31 >> 3);
  const { scan } = segmentsOf(paletteJpeg({ width, height, pixels: noise }, PALETTE, false));
  assert.ok(scan.length > width * height, String(scan.length));
});
