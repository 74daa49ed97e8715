import type { AltoBox, AltoPoint } from "./alto_page.ts";

type Attributes = ReadonlyMap<string, string>;

/** Most points of a polygon; one with more is left out. */
const MAX_POINTS = 1000;

/** A finite number; null where there is none. */
export function readNumber(text: string | undefined): number | null {
  if (text === undefined || text.trim() === "") return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** A confidence; null where there is none from 0 to 1. */
export function readConfidence(text: string | undefined): number | null {
  const number = readNumber(text);
  return number !== null && number >= 0 && number <= 1 ? number : null;
}

/** A length above 0; null where there is none. */
export function readLength(text: string | undefined): number | null {
  const number = readNumber(text);
  return number !== null && number > 0 ? number : null;
}

/** The rectangle of an element; null unless all four numbers are there. */
export function readBox(attributes: Attributes): AltoBox | null {
  const x = readNumber(attributes.get("HPOS"));
  const y = readNumber(attributes.get("VPOS"));
  const width = readNumber(attributes.get("WIDTH"));
  const height = readNumber(attributes.get("HEIGHT"));
  if (x === null || y === null || width === null || height === null || width < 0 || height < 0) return null;
  return { x, y, width, height };
}

/** The points of a polygon, written `x,y x,y` or `x y x y`; null unless they are 3 to {@linkcode MAX_POINTS}, all of them numbers. */
export function readPoints(text: string | undefined): readonly AltoPoint[] | null {
  const numbers = (text ?? "").trim().split(/[\s,]+/, MAX_POINTS * 2 + 1).map(readNumber);
  const points: AltoPoint[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [x, y = null] = [numbers[at], numbers[at + 1]];
    if (x === null || y === null) return null;
    points.push({ x, y });
  }
  return points.length < 3 || points.length > MAX_POINTS ? null : points;
}

/** The rectangle around a polygon. */
export function boxAroundPoints(points: readonly AltoPoint[]): AltoBox {
  return boxAround(points.map(({ x, y }) => ({ x, y, width: 0, height: 0 })))!;
}

/** The rectangle around rectangles; null where there is none. */
export function boxAround(boxes: readonly (AltoBox | null)[]): AltoBox | null {
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
  for (const box of boxes) {
    if (box === null) continue;
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  return left > right ? null : { x: left, y: top, width: right - left, height: bottom - top };
}
