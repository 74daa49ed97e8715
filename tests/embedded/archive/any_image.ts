import fc from "fast-check";

/** Images of up to 40 by 40 pixels, one byte each. */
export const anyImage = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })).chain((
  [width, height],
) =>
  fc.record({
    width: fc.constant(width),
    height: fc.constant(height),
    pixels: fc.uint8Array({ minLength: width * height, maxLength: width * height }),
  })
);
