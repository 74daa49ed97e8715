import type { Point } from "./letter_shapes.ts";
import { PAPER, type Ramp } from "./palette.ts";

/** Pixels of an image, one palette index each, row by row. */
export interface IndexedImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** How much of each pixel a stroke covers, 0..255, with the offset of its first pixel. */
export interface Mask {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly coverage: Uint8Array;
}

/** An image of a page at a scale; what is drawn on it is given in pixels of the whole page. */
export class PageCanvas implements IndexedImage {
  readonly width: number;
  readonly height: number;
  readonly scale: number;
  readonly pixels: Uint8Array;

  /** `width` and `height` are those of the canvas itself. */
  constructor(width: number, height: number, scale: number) {
    this.width = width;
    this.height = height;
    this.scale = scale;
    this.pixels = new Uint8Array(this.width * this.height);
  }

  /** Draws a line through points with a round pen. `tone` is 0..1, full at 1. */
  stroke(points: readonly Point[], radius: number, ramp: Ramp, tone: number): void {
    const mask = strokeMask([points], radius, radius, this.scale);
    if (mask) this.stamp(mask, 0, 0, ramp, tone);
  }

  /** Draws a mask (which has the canvas's scale) at a position of the page; ink covers paper and weaker ink. */
  stamp(mask: Mask, x: number, y: number, { first, levels }: Ramp, tone: number): void {
    const left = Math.round(x * this.scale) + mask.x;
    const top = Math.round(y * this.scale) + mask.y;
    const strength = tone * levels / 255;
    const { width, height, pixels } = this;
    for (let row = Math.max(0, -top); row < mask.height && top + row < height; row++) {
      let from = row * mask.width;
      let to = (top + row) * width + left;
      for (let column = 0; column < mask.width; column++, from++, to++) {
        const level = mask.coverage[from] * strength | 0;
        if (level === 0 || left + column < 0 || left + column >= width) continue;
        const index = first + Math.min(level, levels) - 1;
        const covered = pixels[to];
        if (covered < PAPER.levels || covered < first || (covered < first + levels && covered < index)) {
          pixels[to] = index;
        }
      }
    }
  }
}

/**
 * The coverage of strokes at a scale, or null where there are none. The pen is broad: `thin` and `broad` are half its
 * width along and across a rising diagonal, in pixels of the page.
 */
export function strokeMask(
  strokes: readonly (readonly Point[])[],
  thin: number,
  broad: number,
  scale: number,
): Mask | null {
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (const points of strokes) {
    for (const { x, y } of points) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  if (left > right) return null;
  const x = Math.floor((left - broad) * scale);
  const y = Math.floor((top - broad) * scale);
  const width = Math.ceil((right + broad) * scale) - x;
  const height = Math.ceil((bottom + broad) * scale) - y;
  const mask = { x, y, width, height, coverage: new Uint8Array(width * height) };
  for (const points of strokes) {
    for (let at = 0; at < Math.max(1, points.length - 1); at++) {
      const from = points[at];
      const to = points[at + 1] ?? from;
      const length = Math.hypot(to.x - from.x, to.y - from.y);
      // The share of the stroke that runs across the nib, which is held at 40 degrees.
      const across = length === 0 ? 1 : Math.abs((to.x - from.x) * 0.64 + (to.y - from.y) * 0.77) / length;
      coverSegment(mask, from, to, thin + (broad - thin) * across, scale);
    }
  }
  return mask;
}

function coverSegment(mask: Mask, from: Point, to: Point, radius: number, scale: number): void {
  const half = radius * scale;
  const reach = Math.max(half, 0.5);
  // A stroke narrower than a pixel covers only a part of it.
  const full = 255 * Math.min(1, half * 2);
  const fromX = from.x * scale - mask.x - 0.5;
  const fromY = from.y * scale - mask.y - 0.5;
  const runX = (to.x - from.x) * scale;
  const runY = (to.y - from.y) * scale;
  const square = runX * runX + runY * runY;
  const top = Math.max(0, Math.floor(Math.min(fromY, fromY + runY) - reach));
  const bottom = Math.min(mask.height - 1, Math.ceil(Math.max(fromY, fromY + runY) + reach));
  const left = Math.max(0, Math.floor(Math.min(fromX, fromX + runX) - reach));
  const right = Math.min(mask.width - 1, Math.ceil(Math.max(fromX, fromX + runX) + reach));
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const share = square === 0 ? 0 : Math.max(0, Math.min(1, ((x - fromX) * runX + (y - fromY) * runY) / square));
      const aside = x - fromX - share * runX;
      const along = y - fromY - share * runY;
      const distance = Math.sqrt(aside * aside + along * along);
      const coverage = full * Math.max(0, Math.min(1, reach + 0.5 - distance)) | 0;
      const at = y * mask.width + x;
      if (coverage > mask.coverage[at]) mask.coverage[at] = coverage;
    }
  }
}
