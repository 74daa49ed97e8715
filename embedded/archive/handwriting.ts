import { advance, PEN_RADIUS, strokesOf } from "./letter_shapes.ts";
import { type Mask, type PageCanvas, strokeMask } from "./page_canvas.ts";
import type { Ramp } from "./palette.ts";
import { seededRandom } from "./seeded_random.ts";

/** The narrowest stroke of the pen, as half its width at size 1, in pixels. */
const THIN_RADIUS = 1.05;
/** Ways in which the hand draws one letter. */
const VARIANTS = 4;
/** Masks are cached for so many scales and sizes. */
const MAX_ALPHABETS = 12;

/** Draws a text on a page with an unsteady pen, from a position on its baseline. */
export function drawText(
  canvas: PageCanvas,
  text: string,
  penX: number,
  baseline: number,
  size: number,
  ramp: Ramp,
  tone: number,
  random: () => number,
): void {
  const letters = alphabet(canvas.scale, size);
  let x = penX;
  for (const character of text) {
    const mask = letters.mask(character, Math.floor(random() * VARIANTS));
    if (mask) canvas.stamp(mask, x, baseline, ramp, tone);
    x += advance(character, size);
  }
}

/** The masks of the letters at one size and scale. */
class Alphabet {
  readonly #scale: number;
  readonly #size: number;
  readonly #masks = new Map<string, Mask | null>();

  constructor(scale: number, size: number) {
    this.#scale = scale;
    this.#size = size;
  }

  mask(character: string, variant: number): Mask | null {
    const key = character + variant;
    let mask = this.#masks.get(key);
    if (mask === undefined) {
      const strokes = strokesOf(character, seededRandom("letter", key));
      mask = strokeMask(strokes, THIN_RADIUS, PEN_RADIUS, this.#scale * this.#size);
      this.#masks.set(key, mask);
    }
    return mask;
  }
}

const alphabets = new Map<string, Alphabet>();

function alphabet(scale: number, size: number): Alphabet {
  const key = `${scale}/${size}`;
  let found = alphabets.get(key);
  if (!found) {
    found = new Alphabet(scale, size);
    if (alphabets.size >= MAX_ALPHABETS) alphabets.clear();
    alphabets.set(key, found);
  }
  return found;
}
