/** No Job of the largest permitted size needs more ranges; what a longer text adds is ignored. */
export const MAX_INDEX_RANGES = 100_000;

/** A set of Job indexes. */
export interface IndexRanges {
  /** How many indexes are in the set. */
  readonly size: number;
  /** Ascending, apart from each other. */
  readonly ranges: readonly IndexRange[];
  has(index: number): boolean;
}

/**
 * Reads `completedIndexes` and `failedIndexes` of a Job's status, such as `0-2,5` (Kubernetes, JobStatus). Spaces
 * around numbers are ignored, invalid ranges are skipped, overlapping ranges count once. The memory of the set depends on
 * the length of the text, not on the numbers in it.
 */
export function readIndexRanges(text: string | null | undefined): IndexRanges {
  if (!text) return EMPTY;
  const ranges = merged(text.split(",", MAX_INDEX_RANGES).flatMap(readRange));
  let size = 0;
  for (const [first, last] of ranges) size += last - first + 1;
  return { size, ranges, has: (index) => contains(ranges, index) };
}

type IndexRange = readonly [first: number, last: number];

const EMPTY: IndexRanges = { size: 0, ranges: [], has: () => false };
const RANGE = /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/;

function readRange(text: string): IndexRange[] {
  const match = RANGE.exec(text);
  if (!match) return [];
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Number(match[2]);
  return first <= last ? [[first, last]] : [];
}

function merged(ranges: IndexRange[]): IndexRange[] {
  ranges.sort((a, b) => a[0] - b[0]);
  const result: [number, number][] = [];
  for (const [first, last] of ranges) {
    const previous = result.at(-1);
    if (previous && first <= previous[1] + 1) {
      previous[1] = Math.max(previous[1], last);
    } else result.push([first, last]);
  }
  return result;
}

function contains(ranges: readonly IndexRange[], index: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle];
    if (index < first) high = middle - 1;
    else if (index > last) low = middle + 1;
    else return true;
  }
  return false;
}
