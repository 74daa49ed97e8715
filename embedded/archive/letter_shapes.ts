import { glyph, GLYPH_HEIGHT, GLYPH_WIDTH } from "./glyphs.ts";

/** A point in pixels of a page, from the pen's position on the baseline. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How far the ink of a character reaches from the pen's position on the baseline, in pixels. */
interface Extent {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Half the width of the broadest stroke at size 1, in pixels. */
export const PEN_RADIUS = 1.9;

/** How far a hand misses a point of a letter, in pixels at size 1. */
const UNSTEADINESS = 0.55;

/** From one dot of the font to the next, in pixels at size 1. */
const COLUMN = 4.1;
const ROW = 4.5;
/** The row of the baseline, and how far each row above it leans to the right, in pixels. */
const BASELINE_ROW = 8;
const LEAN = 0.85;
/** Between two characters, and between two words, in pixels at size 1. */
const GAP = 6.2;
const SPACE = 12;

/** How far the pen moves on for a character at a size, in whole pixels. */
export function advance(character: string, size: number): number {
  return Math.round(metricsOf(character).width * size);
}

/** The bounds of a character's ink at size 1; null for one without ink. */
export function extentOf(character: string): Extent | null {
  return metricsOf(character).extent;
}

/** The strokes of a character at size 1: the dots of the font joined by smooth curves, in the unsteady hand of `random`. */
export function strokesOf(character: string, random: () => number): readonly (readonly Point[])[] {
  const dots = dotsOf(character);
  const places = new Map([...dots].map((dot) => [dot, unsteady(place(character, dot), random)]));
  return paths(dots).map((path) => smooth(path.map((dot) => places.get(dot)!)));
}

interface Metrics {
  /** From this character to the next, in pixels at size 1. */
  readonly width: number;
  readonly extent: Extent | null;
}

const METRICS = new Map<string, Metrics>();

function metricsOf(character: string): Metrics {
  let metrics = METRICS.get(character);
  if (!metrics) {
    const { first, last } = columnsOf(character);
    const width = character === " " ? SPACE : (last - first) * COLUMN + GAP;
    metrics = { width, extent: measure(character) };
    METRICS.set(character, metrics);
  }
  return metrics;
}

/** A dot of the font: its column, and its row times eight. */
type Dot = number;

function dotsOf(character: string): Set<Dot> {
  const rows = glyph(character);
  const dots = new Set<Dot>();
  for (let row = 0; row < GLYPH_HEIGHT; row++) {
    for (let column = 0; column < GLYPH_WIDTH; column++) {
      if (rows[row] >> (GLYPH_WIDTH - 1 - column) & 1) dots.add(row * 8 + column);
    }
  }
  return dots;
}

function columnsOf(character: string): { first: number; last: number } {
  const columns = glyph(character).reduce((all, row) => all | row, 0);
  if (columns === 0) return { first: 0, last: 0 };
  return { first: Math.clz32(columns) - (32 - GLYPH_WIDTH), last: GLYPH_WIDTH - 1 - Math.log2(columns & -columns) };
}

function place(character: string, dot: Dot): Point {
  const rise = BASELINE_ROW - (dot >> 3);
  return { x: ((dot & 7) - columnsOf(character).first) * COLUMN + rise * LEAN, y: -rise * ROW };
}

function unsteady({ x, y }: Point, random: () => number): Point {
  return { x: x + (random() * 2 - 1) * UNSTEADINESS, y: y + (random() * 2 - 1) * UNSTEADINESS };
}

function measure(character: string): Extent | null {
  const points = [...dotsOf(character)].map((dot) => place(character, dot));
  if (points.length === 0) return null;
  const reach = PEN_RADIUS + UNSTEADINESS;
  return {
    left: Math.min(...points.map(({ x }) => x)) - reach,
    right: Math.max(...points.map(({ x }) => x)) + reach,
    top: Math.min(...points.map(({ y }) => y)) - reach,
    bottom: Math.max(...points.map(({ y }) => y)) + reach,
  };
}

/** The dots as paths of neighbours; each pair of neighbours lies on one of them. */
function paths(dots: ReadonlySet<Dot>): Dot[][] {
  const links = new Map<Dot, Set<Dot>>();
  for (const dot of dots) links.set(dot, new Set(neighbours(dot, dots)));
  const found: Dot[][] = [];
  const follow = (from: Dot) => {
    const path = [from];
    for (let at = from; links.get(at)!.size > 0;) {
      const [next] = links.get(at)!;
      links.get(at)!.delete(next);
      links.get(next)!.delete(at);
      path.push(next);
      // A crossing ends the path: the strokes that meet there start new paths.
      if (neighbours(next, dots).length !== 2) break;
      at = next;
    }
    found.push(path);
  };
  for (const dot of dots) {
    const degree = neighbours(dot, dots).length;
    if (degree === 0) found.push([dot]);
    if (degree !== 2) { while (links.get(dot)!.size > 0) follow(dot); }
  }
  // What is left are closed curves.
  for (const dot of dots) if (links.get(dot)!.size > 0) follow(dot);
  return found;
}

/** Neighbours of a dot; diagonal ones only where no third dot joins the two. */
function neighbours(dot: Dot, dots: ReadonlySet<Dot>): Dot[] {
  const straight = [1, -1, 8, -8].map((step) => dot + step).filter((other) => dots.has(other));
  const diagonal = [[1, 8], [1, -8], [-1, 8], [-1, -8]]
    .filter(([across, down]) => dots.has(dot + across + down) && !dots.has(dot + across) && !dots.has(dot + down))
    .map(([across, down]) => dot + across + down);
  return [...straight, ...diagonal];
}

/** Cuts the corners of a path twice (Chaikin); its ends stay, and a closed path stays closed. */
function smooth(path: readonly Point[]): readonly Point[] {
  if (path.length < 3) return path;
  const last = path.length - 1;
  const isClosed = path[0].x === path[last].x && path[0].y === path[last].y;
  let points = path;
  for (let round = 0; round < 2; round++) {
    const cut: Point[] = isClosed ? [] : [points[0]];
    for (let at = 0; at + 1 < points.length; at++) {
      cut.push(between(points[at], points[at + 1], 0.25), between(points[at], points[at + 1], 0.75));
    }
    cut.push(isClosed ? cut[0] : points[points.length - 1]);
    points = cut;
  }
  return points;
}

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
