import type { VolumeHit } from "./volume_index.ts";

interface OrderedHits {
  readonly hits: readonly VolumeHit[];
  /** Hits on pages that are not in the order. */
  readonly leftOut: number;
}

/**
 * The hits in the order in which the reader goes through the pages.
 *
 * @param positions position of each page by its canvas
 */
export function hitsInOrder(hits: readonly VolumeHit[], positions: ReadonlyMap<number, number>): OrderedHits {
  const found = hits.flatMap((hit) => {
    const position = positions.get(hit.canvas);
    return position === undefined ? [] : [{ hit, position }];
  });
  found.sort((a, b) => a.position - b.position);
  return { hits: found.map(({ hit }) => hit), leftOut: hits.length - found.length };
}
