import assert from "node:assert/strict";
import fc from "fast-check";
import { palettePng } from "@/embedded/archive/png.ts";
import { anyImage } from "./any_image.ts";
import { decodedPng } from "./decoded_png.ts";

const PALETTE = Uint8Array.from({ length: 256 * 3 }, (_, index) => index);

Deno.test("png: any image comes back as it was", () => {
  fc.assert(
    fc.property(anyImage, ({ width, height, pixels }) => {
      const decoded = decodedPng(palettePng(width, height, pixels, PALETTE));
      assert.deepEqual([decoded.width, decoded.height], [width, height]);
      assert.deepEqual([...decoded.pixels], [...pixels]);
      assert.deepEqual(decoded.palette, PALETTE);
    }),
    { numRuns: 30 },
  );
});

Deno.test("png: pixels that do not fill the image are refused", () => {
  assert.throws(() => palettePng(2, 2, new Uint8Array(3), PALETTE), RangeError);
});
