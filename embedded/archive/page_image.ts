import { glyph, GLYPH_HEIGHT, GLYPH_WIDTH } from "./glyphs.ts";
import { CHARACTER_ADVANCE, DOT, type PageLayout } from "./page_layout.ts";
import { between, seededRandom } from "./seeded_random.ts";

/** Pixels of a drawn page, one byte of grey each, row by row. */
interface GreyImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Draws a page on aged paper. `texture` seeds the paper and the ink, so equal arguments give equal bytes. */
export function drawPage(layout: PageLayout, texture: string): GreyImage {
  const { width, height } = layout;
  const random = seededRandom("paper", texture);
  const pixels = paper(width, height, random);
  for (const line of layout.lines) {
    const ink = between(random, 38, 78);
    [...line.text].forEach((character, column) => {
      drawGlyph(pixels, width, glyph(character), line.x + column * CHARACTER_ADVANCE, line.y, ink);
    });
  }
  return { width, height, pixels };
}

/** The image at one n-th of its size, each pixel the mean of the n by n pixels it stands for. */
export function shrink(image: GreyImage, divisor: number): GreyImage {
  const width = Math.floor(image.width / divisor);
  const height = Math.floor(image.height / divisor);
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let dy = 0; dy < divisor; dy++) {
        const row = (y * divisor + dy) * image.width + x * divisor;
        for (let dx = 0; dx < divisor; dx++) sum += image.pixels[row + dx];
      }
      pixels[y * width + x] = Math.round(sum / (divisor * divisor));
    }
  }
  return { width, height, pixels };
}

/** Fibres as blotches of a few grey steps: broad enough that the image still compresses well. */
function paper(width: number, height: number, random: () => number): Uint8Array {
  const BLOTCH = 6;
  const pixels = new Uint8Array(width * height);
  const across = Math.ceil(width / BLOTCH);
  for (let top = 0; top < height; top += BLOTCH) {
    const tones = Uint8Array.from({ length: across }, () => between(random, 222, 233));
    for (let y = top; y < Math.min(top + BLOTCH, height); y++) {
      const edgeY = Math.max(0, 24 - Math.min(y, height - 1 - y));
      for (let x = 0; x < width; x++) {
        const edge = Math.max(edgeY, 24 - Math.min(x, width - 1 - x));
        pixels[y * width + x] = tones[Math.floor(x / BLOTCH)] - Math.max(0, edge);
      }
    }
  }
  for (let speck = 0; speck < 400; speck++) {
    pixels[between(random, 0, height - 1) * width + between(random, 0, width - 1)] = between(random, 120, 190);
  }
  return pixels;
}

function drawGlyph(pixels: Uint8Array, width: number, rows: readonly number[], x: number, y: number, ink: number) {
  for (let row = 0; row < GLYPH_HEIGHT; row++) {
    for (let column = 0; column < GLYPH_WIDTH; column++) {
      if ((rows[row] >> (GLYPH_WIDTH - 1 - column) & 1) === 0) continue;
      for (let dy = 0; dy < DOT; dy++) {
        const start = (y + row * DOT + dy) * width + x + column * DOT;
        pixels.fill(ink, start, start + DOT);
      }
    }
  }
}
