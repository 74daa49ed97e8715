import type { PageCanvas } from "./page_canvas.ts";
import type { PageLayout } from "./page_layout.ts";
import { BED, PAPER } from "./palette.ts";
import { between } from "./seeded_random.ts";

/** The paper's tone changes in squares of this many pixels: coarse enough that the image compresses well. */
const GRAIN = 5;
/** How far the page lies from the edge of the image, in pixels, on the side without the binding. */
const BED_MARGIN = 34;
/** How far the shadow of the binding reaches into the page, in pixels. */
const GUTTER = 150;
/** Tones of clean paper lie around this level. */
const CLEAN = 13.2;
/** From one point of the field of soft unevenness to the next, in pixels. */
const FIELD_STEP = 130;

interface Stain {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly depth: number;
}

/** Fills a canvas with a sheet of old paper on the scanner's bed: uneven, stained, darker at its edges and at the binding. */
export function drawPaper(canvas: PageCanvas, layout: PageLayout, random: () => number): void {
  const { width, height, isRecto } = layout;
  const field = softField(width, height, random);
  const stains = Array.from({ length: between(random, 3, 8) }, (): Stain => ({
    x: random() * width,
    y: random() * height,
    radius: 20 + random() * random() * 190,
    depth: 0.6 + random() * 1.8,
  }));
  const edge = raggedEdge(height, random);
  const lean = (random() - 0.5) * 10;
  const grain = Math.max(2, Math.round(GRAIN * canvas.scale));
  const step = grain / canvas.scale;
  const specks = between(random, 0, 0x7fff_ffff);
  for (let row = 0; row * grain < canvas.height; row++) {
    const y = Math.min(height - 1, (row + 0.5) * step);
    const outer = BED_MARGIN + edge[Math.floor(y / 8)] + lean * (y / height - 0.5);
    const start = row * grain * canvas.width;
    for (let column = 0; column * grain < canvas.width; column++) {
      const x = Math.min(width - 1, (column + 0.5) * step);
      // Distances from the outer edge of the sheet, from its top or bottom, and from the binding.
      const aside = (isRecto ? width - 1 - x : x) - outer;
      const along = Math.min(y - BED_MARGIN * 0.7, height - 1 - y - BED_MARGIN * 0.8) + lean * (x / width - 0.5);
      const inner = isRecto ? x : width - 1 - x;
      const index = toneAt(aside, along, inner, x, y, column, row);
      canvas.pixels.fill(index, start + column * grain, start + Math.min(canvas.width, (column + 1) * grain));
    }
    const end = Math.min(canvas.height, (row + 1) * grain);
    for (let copy = row * grain + 1; copy < end; copy++) {
      canvas.pixels.copyWithin(copy * canvas.width, start, start + canvas.width);
    }
  }

  function toneAt(aside: number, along: number, inner: number, x: number, y: number, column: number, row: number) {
    if (aside < 0) {
      // The edges of the leaves below this one.
      return aside > -13 && inner > 0 && along > 0 ? PAPER.first + 1 + ((aside / 3 | 0) & 1) * 2 : BED.first;
    }
    if (along < 0) return BED.first + (along > -4 ? 1 : 0);
    let level = CLEAN + field(x, y);
    const near = Math.min(aside, along);
    if (near < 90) level -= (1 - near / 90) ** 2 * 3.2;
    if (inner < GUTTER) level -= (1 - inner / GUTTER) ** 2 * 9;
    for (const stain of stains) {
      const across = (x - stain.x) / stain.radius;
      const down = (y - stain.y) / stain.radius;
      const square = across * across + down * down;
      // A dried drop is darkest at its rim.
      if (square < 1) level -= stain.depth * (0.45 + 0.55 * square * square * square);
    }
    const noise = hash(specks, column, row);
    level += noise < 0.0011 ? -3 : (noise - 0.5) * 0.34;
    return PAPER.first + Math.max(0, Math.min(PAPER.levels - 1, Math.round(level)));
  }
}

/** Low hills and valleys of tone between -1 and 1. */
function softField(width: number, height: number, random: () => number): (x: number, y: number) => number {
  const across = Math.ceil(width / FIELD_STEP) + 2;
  const heights = Float32Array.from({ length: across * (Math.ceil(height / FIELD_STEP) + 2) }, () => random() * 2 - 1);
  return (x, y) => {
    const column = Math.floor(x / FIELD_STEP);
    const row = Math.floor(y / FIELD_STEP);
    const right = x / FIELD_STEP - column;
    const down = y / FIELD_STEP - row;
    const at = row * across + column;
    const upper = heights[at] + (heights[at + 1] - heights[at]) * right;
    const lower = heights[at + across] + (heights[at + across + 1] - heights[at + across]) * right;
    return upper + (lower - upper) * down;
  };
}

/** How far the edge of a sheet wanders, in pixels, for each eighth pixel of its length. */
function raggedEdge(height: number, random: () => number): Float32Array {
  let at = 0;
  return Float32Array.from({ length: Math.ceil(height / 8) + 1 }, () => at = at * 0.96 + (random() - 0.5) * 1.6);
}

/** A number in [0, 1) for a place, equal for equal arguments. */
function hash(seed: number, column: number, row: number): number {
  let mixed = Math.imul(column ^ seed, 0x9e3779b1) ^ Math.imul(row + seed, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 0x1_0000_0000;
}
