import { drawText } from "./handwriting.ts";
import type { Point } from "./letter_shapes.ts";
import { type Mask, type PageCanvas, strokeMask } from "./page_canvas.ts";
import type { Box, PageLayout } from "./page_layout.ts";
import { BLUE, RED, SEPIA } from "./palette.ts";
import { between, seededRandom } from "./seeded_random.ts";

/** Writes the number of the page in pencil into its upper outer corner. */
export function drawPageNumber(canvas: PageCanvas, { page, isRecto, width }: PageLayout): void {
  const text = String(page);
  const x = isRecto ? width - 150 - text.length * 26 : 110;
  drawText(canvas, text, x, 150, 1.5, SEPIA, 0.75, seededRandom("number", page));
}

/** Stamps the archive's name below the text; in the middle of a volume's first page, of which its logo is a part. */
export function drawStamp(canvas: PageCanvas, layout: PageLayout, random: () => number): void {
  const aside = layout.page === 1 ? 0 : between(random, -260, 260);
  const centre = { x: layout.width / 2 + aside, y: layout.height - 175 };
  const tone = 0.55 + random() * 0.3;
  canvas.stroke(ellipse(centre, 176, 84), 2.2, BLUE, tone);
  canvas.stroke(ellipse(centre, 160, 70), 1.1, BLUE, tone);
  drawText(canvas, "ARKIVET", centre.x - 84, centre.y - 4, 0.95, BLUE, tone, random);
  drawText(canvas, "* 1906 *", centre.x - 62, centre.y + 38, 0.75, BLUE, tone, random);
}

/** Presses a seal of red wax onto the foot of the page. */
export function drawSeal(canvas: PageCanvas, layout: PageLayout, random: () => number): void {
  const radius = between(random, 68, 80);
  const aside = between(random, 250, 330);
  const centre = { x: layout.isRecto ? layout.width - aside : aside, y: layout.height - between(random, 160, 190) };
  canvas.stamp(waxMask(radius, canvas.scale, random), centre.x, centre.y, RED, 1);
}

/** Draws a map into a box: a frame, parcels of land, a coast, a river, woods, a compass and a scale. */
export function drawMap(canvas: PageCanvas, box: Box, random: () => number): void {
  const { x, y, width, height } = box;
  for (const inset of [0, 12]) {
    const [left, top, right, bottom] = [x + inset, y + inset, x + width - inset, y + height - inset];
    const frame = [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
    canvas.stroke(frame.map(([x, y]) => ({ x, y })), inset === 0 ? 2.2 : 0.9, SEPIA, 0.9);
  }
  const at = (across: number, down: number): Point => ({ x: x + across * width, y: y + down * height });
  const coast = wander(at(0.02, 0.62), at(0.98, 0.8), 0.09 * height, random);
  for (let line = 0; line < 5; line++) {
    canvas.stroke(
      coast.map((point) => ({ x: point.x, y: point.y + line * line * 3.4 })),
      line === 0 ? 2 : 0.8,
      BLUE,
      0.9 - line * 0.13,
    );
  }
  const river = wander(at(0.3 + random() * 0.4, 0.02), at(0.25 + random() * 0.5, 0.68), 0.07 * height, random);
  canvas.stroke(river, 2.4, BLUE, 0.6);
  canvas.stroke(river.map((point) => ({ x: point.x + 9, y: point.y + 3 })), 0.9, BLUE, 0.7);
  for (let parcel = 0; parcel < 9; parcel++) {
    const centre = at(0.12 + random() * 0.76, 0.08 + random() * 0.46);
    const reach = 50 + random() * 70;
    const corners = Array.from({ length: 6 }, (_, corner) => {
      const angle = corner / 6 * Math.PI * 2;
      const far = reach * (0.7 + random() * 0.6);
      return { x: centre.x + Math.cos(angle) * far, y: centre.y + Math.sin(angle) * far * 0.8 };
    });
    canvas.stroke([...corners, corners[0]], 1.2, SEPIA, 0.85);
    if (parcel % 2 === 0) {
      for (let furrow = -3; furrow <= 3; furrow++) {
        const level = centre.y + furrow * reach * 0.13;
        canvas.stroke(
          [{ x: centre.x - reach * 0.45, y: level + 8 }, { x: centre.x + reach * 0.45, y: level - 8 }],
          0.6,
          SEPIA,
          0.55,
        );
      }
    }
  }
  for (let tree = 0; tree < 46; tree++) {
    const foot = at(0.05 + random() * 0.9, 0.05 + random() * 0.52);
    canvas.stroke(ellipse({ x: foot.x, y: foot.y - 12 }, 6, 7), 0.9, SEPIA, 0.7);
    canvas.stroke([foot, { x: foot.x, y: foot.y - 5 }], 0.9, SEPIA, 0.7);
  }
  const compass = at(0.83, 0.9);
  for (let ray = 0; ray < 16; ray++) {
    const angle = ray / 16 * Math.PI * 2;
    const far = ray % 4 === 0 ? 86 : ray % 2 === 0 ? 58 : 34;
    const tip = { x: compass.x + Math.sin(angle) * far, y: compass.y - Math.cos(angle) * far };
    canvas.stroke([compass, tip], ray % 4 === 0 ? 1.8 : 0.8, ray === 0 ? RED : SEPIA, 0.95);
  }
  canvas.stroke(ellipse(compass, 46, 46), 0.9, SEPIA, 0.8);
  const ruler = at(0.08, 0.95);
  for (let mark = 0; mark <= 10; mark++) {
    const left = ruler.x + mark * 34;
    canvas.stroke([{ x: left, y: ruler.y }, { x: left, y: ruler.y - (mark % 5 === 0 ? 20 : 11) }], 0.9, SEPIA, 0.9);
  }
  canvas.stroke([ruler, { x: ruler.x + 340, y: ruler.y }], 1.6, SEPIA, 0.9);
}

function ellipse(centre: Point, across: number, down: number): Point[] {
  return Array.from({ length: 49 }, (_, step) => {
    const angle = step / 48 * Math.PI * 2;
    return { x: centre.x + Math.cos(angle) * across, y: centre.y + Math.sin(angle) * down };
  });
}

/** A line from one point to another that strays: each half is bent again. */
function wander(from: Point, to: Point, reach: number, random: () => number): Point[] {
  if (Math.hypot(to.x - from.x, to.y - from.y) < 22) return [from, to];
  const stray = (random() - 0.5) * 2 * reach;
  const middle = { x: (from.x + to.x) / 2 + stray * 0.5, y: (from.y + to.y) / 2 + stray };
  const first = wander(from, middle, reach * 0.52, random);
  return [...first, ...wander(middle, to, reach * 0.52, random).slice(1)];
}

/** A disc of wax: an uneven rim, a pressed middle with a cross, and light from the upper left. */
function waxMask(radius: number, scale: number, random: () => number): Mask {
  const waves = Array.from({ length: 4 }, () => ({ size: random() * 0.035, phase: random() * 6.28 }));
  const half = Math.ceil(radius * 1.15 * scale);
  const side = half * 2 + 1;
  const coverage = new Uint8Array(side * side);
  const cross = strokeMask(
    [[{ x: -radius * 0.4, y: 0 }, { x: radius * 0.4, y: 0 }], [{ x: 0, y: -radius * 0.45 }, {
      x: 0,
      y: radius * 0.45,
    }]],
    3,
    4,
    scale,
  );
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const dx = (column - half) / scale;
      const dy = (row - half) / scale;
      const angle = Math.atan2(dy, dx);
      const rim = waves.reduce((sum, { size, phase }, wave) => sum + size * Math.sin(angle * (wave + 2) + phase), 1);
      const distance = Math.hypot(dx, dy) / (radius * rim);
      if (distance > 1) continue;
      // Slopes that face the light are brighter: the outer rim and the step down into the pressed middle.
      const slope = distance > 0.86 ? (distance - 0.86) / 0.14 : Math.abs(distance - 0.74) < 0.05 ? -0.9 : 0;
      const light = slope * Math.cos(angle + Math.PI * 0.75);
      coverage[row * side + column] = Math.round(255 * Math.max(0.4, Math.min(1, 0.78 - light * 0.32)));
    }
  }
  if (cross) {
    for (let row = 0; row < cross.height; row++) {
      for (let column = 0; column < cross.width; column++) {
        const at = (row + cross.y + half) * side + column + cross.x + half;
        if (cross.coverage[row * cross.width + column] > 100) coverage[at] = 255;
      }
    }
  }
  return { x: -half, y: -half, width: side, height: side, coverage };
}
