import type { Cell, Statements } from "./statements.ts";

/** What was done within an interval; bytes and numbers. */
const FLOWS = ["bytesIn", "bytesOut", "reads", "writes", "deletes"] as const;

/**
 * What was there at its end; bytes and numbers. Objects are all versions; `partBytes` are those of parts that are not
 * yet an object.
 */
const POINTS = [
  "objectCount",
  "objectBytes",
  "partBytes",
  "multipartObjects",
  "multipartObjectParts",
  "multipartObjectBytes",
  "uploads",
  "uploadParts",
] as const;

/** The usage of an interval, and whether a bucket that is gone by now contributed. */
export type Used = Record<typeof FLOWS[number] | typeof POINTS[number], number> & { hasDeleted: boolean };

/** Hours since 1970, both within the interval. */
export interface Interval {
  first: number;
  last: number;
}

/** Reads what was counted by bucket and hour. */
export class UsageHistory {
  readonly #index: Statements;

  constructor(index: Statements) {
    this.#index = index;
  }

  /**
   * What was done in a tenant's buckets, or one of them, by intervals in ascending order. Hours without an entry did
   * nothing, and hold what was there before. Memory is bounded by the intervals, whatever the buckets.
   */
  during(tenant: number, bucket: number | null, intervals: readonly Interval[]): Used[] {
    const sums = intervals.map(nothing);
    const end = intervals.at(-1)?.last ?? -1;
    let row: Point | null = null;
    let at = 0;
    // The last entry of a bucket holds for the end of each interval until the next entry.
    const holdUntil = (hour: number) => {
      while (at < intervals.length && intervals[at].last < hour) {
        if (row) addPoint(sums[at], row);
        at++;
      }
    };
    for (const cells of this.#rows(tenant, bucket, end)) {
      const next = pointOf(cells);
      if (next.bucket !== row?.bucket) {
        holdUntil(Infinity);
        at = 0;
        row = null;
      }
      holdUntil(next.hour);
      row = next;
      if (at < intervals.length && intervals[at].first <= next.hour) addFlow(sums[at], next);
    }
    holdUntil(Infinity);
    return sums;
  }

  #rows(tenant: number, bucket: number | null, end: number): Iterable<Cell[]> {
    const select =
      `SELECT ${COLUMNS}, NOT EXISTS (SELECT 1 FROM buckets WHERE id = bucket) FROM usage WHERE tenant = ?`;
    return bucket === null
      ? this.#index.each(`${select} AND hour <= ? ORDER BY bucket, hour`, tenant, end)
      : this.#index.each(`${select} AND bucket = ? AND hour <= ? ORDER BY hour`, tenant, bucket, end);
  }
}

const COLUMNS = `bucket, hour, bytes_in, bytes_out, reads, writes, deletes, stored_count, stored_bytes, part_bytes,
  multipart_objects, multipart_object_parts, multipart_object_bytes, upload_count, upload_parts`;

type Point = Used & { bucket: number; hour: number };

function pointOf([bucket, hour, ...cells]: Cell[]): Point {
  const used = nothing();
  for (const [i, name] of [...FLOWS, ...POINTS].entries()) used[name] = Number(cells[i]);
  return { ...used, bucket: Number(bucket), hour: Number(hour), hasDeleted: cells.at(-1) === 1 };
}

function nothing(): Used {
  const zeros = Object.fromEntries([...FLOWS, ...POINTS].map((name) => [name, 0]));
  return { ...zeros as Omit<Used, "hasDeleted">, hasDeleted: false };
}

function addFlow(sum: Used, point: Point): void {
  for (const name of FLOWS) sum[name] += point[name];
  sum.hasDeleted ||= point.hasDeleted;
}

function addPoint(sum: Used, point: Point): void {
  for (const name of POINTS) sum[name] += point[name];
}
