import assert from "node:assert/strict";
import fc from "fast-check";
import { greyscalePng } from "@/embedded/archive/png.ts";
import { decodedPng } from "./decoded_png.ts";

Deno.test("png: any grey image comes back as it was", async () => {
  const sized = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })).chain(([width, height]) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      pixels: fc.uint8Array({ minLength: width * height, maxLength: width * height }),
    })
  );
  await fc.assert(
    fc.asyncProperty(sized, async ({ width, height, pixels }) => {
      const decoded = decodedPng(await greyscalePng(width, height, pixels));
      assert.deepEqual([decoded.width, decoded.height], [width, height]);
      assert.deepEqual([...decoded.pixels], [...pixels]);
    }),
    { numRuns: 30 },
  );
});

Deno.test("png: pixels that do not fill the image are refused", async () => {
  await assert.rejects(greyscalePng(2, 2, new Uint8Array(3)), RangeError);
});
