import assert from "node:assert/strict";
import fc from "fast-check";
import { palettePng } from "@/embedded/archive/png.ts";
import { decodedPng } from "./decoded_png.ts";

const PALETTE = Uint8Array.from({ length: 256 * 3 }, (_, index) => index);

Deno.test("png: any image comes back as it was", () => {
  const sized = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })).chain(([width, height]) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      pixels: fc.uint8Array({ minLength: width * height, maxLength: width * height }),
    })
  );
  fc.assert(
    fc.property(sized, ({ width, height, pixels }) => {
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
