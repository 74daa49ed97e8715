import type { Canvas, Manifest } from "./manifest.ts";

/** Canvases that are shown side by side, from left to right (or from top to bottom). */
export type Spread = readonly number[];

/** How a viewer shows the canvases of a manifest at first. */
type Layout = "one at a time" | "spreads" | "strip";

/** The layout that the behavior of a manifest requests. */
export function layoutOf({ behaviors }: Pick<Manifest, "behaviors">): Layout {
  if (behaviors.includes("continuous")) return "strip";
  return behaviors.includes("paged") ? "spreads" : "one at a time";
}

/**
 * The openings of a bound volume. The first page stands alone, then pages pair; a canvas that is a whole opening, or no
 * page of the binding, stands alone. A page that such a canvas parts from its neighbour pairs with it nevertheless.
 *
 * @param order indices into `canvases` in reading order
 */
export function spreadsOf(
  canvases: readonly Pick<Canvas, "behaviors">[],
  order: readonly number[],
  isRightToLeft: boolean,
): readonly Spread[] {
  const spreads: Spread[] = [];
  let left: number | null = null;
  let isFirst = true;
  /** Canvases that are no pages, met while a page waits for its neighbour. */
  let between: number[] = [];
  const end = (spread: Spread) => {
    if (spread.length > 0) spreads.push(isRightToLeft ? spread.toReversed() : spread);
    spreads.push(...between.map((at) => [at]));
    between = [];
    left = null;
  };
  for (const at of order) {
    const behaviors = canvases[at].behaviors;
    if (behaviors.includes("non-paged")) {
      if (left === null) spreads.push([at]);
      else between.push(at);
    } else if (behaviors.includes("facing-pages")) {
      if (left !== null) end([left]);
      spreads.push([at]);
      isFirst = false;
    } else if (left !== null) {
      end([left, at]);
    } else if (isFirst) {
      spreads.push([at]);
      isFirst = false;
    } else {
      left = at;
    }
  }
  if (left !== null) end([left]);
  return spreads;
}
