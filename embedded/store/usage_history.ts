import type { Statements } from "./statements.ts";

/** Traffic and operations within an interval, with the columns of the index. */
const FLOWS = {
  bytesIn: "bytes_in",
  bytesOut: "bytes_out",
  reads: "reads",
  writes: "writes",
  deletes: "deletes",
} as const;

/** Stored at the end of an interval. Objects are all versions; `partBytes` are those of parts that are not yet an object. */
export const USAGE_POINTS = {
  objectCount: "stored_count",
  objectBytes: "stored_bytes",
  partBytes: "part_bytes",
  multipartObjects: "multipart_objects",
  multipartObjectParts: "multipart_object_parts",
  multipartObjectBytes: "multipart_object_bytes",
  uploads: "upload_count",
  uploadParts: "upload_parts",
} as const;

/** The usage of an interval, and whether a bucket that is gone by now contributed. */
export type Used = Record<Figure, number> & { hasDeleted: boolean };

/** Hours since 1970, both within the interval. */
export interface Interval {
  first: number;
  last: number;
}

type Figure = keyof typeof FLOWS | keyof typeof USAGE_POINTS;

const FIGURES = Object.entries({ ...FLOWS, ...USAGE_POINTS }).map(([name, column]) => ({
  name: name as Figure,
  column,
}));

type Point = Used & { readonly bucket: number; readonly hour: number };

/**
 * Usage of a tenant's buckets, or of one of them, by intervals in ascending order. Hours without an entry have no
 * traffic, and store what the entry before them did. Memory is bounded by the intervals, whatever the buckets.
 */
export function usageDuring(
  index: Statements,
  tenant: number,
  bucket: number | null,
  intervals: readonly Interval[],
): Used[] {
  const sums = intervals.map(nothing);
  let row: Point | null = null;
  let at = 0;
  // The last entry of a bucket holds for the end of each interval until the next entry.
  const holdUntil = (hour: number) => {
    while (at < intervals.length && intervals[at].last < hour) {
      if (row) add(sums[at], row, USAGE_POINTS);
      at++;
    }
  };
  for (const next of points(index, tenant, bucket, intervals.at(-1)?.last ?? -1)) {
    if (next.bucket !== row?.bucket) {
      holdUntil(Infinity);
      at = 0;
      row = null;
    }
    holdUntil(next.hour);
    row = next;
    if (at < intervals.length && intervals[at].first <= next.hour) {
      add(sums[at], next, FLOWS);
      sums[at].hasDeleted ||= next.hasDeleted;
    }
  }
  holdUntil(Infinity);
  return sums;
}

function* points(index: Statements, tenant: number, bucket: number | null, end: number): Generator<Point> {
  const columns = FIGURES.map(({ column }) => column);
  const which = bucket === null ? [tenant, end] : [tenant, end, bucket];
  const rows = index.each(
    `SELECT bucket, hour, NOT EXISTS (SELECT 1 FROM buckets WHERE id = bucket), ${columns} FROM usage
     WHERE tenant = ? AND hour <= ? ${bucket === null ? "" : "AND bucket = ?"} ORDER BY bucket, hour`,
    ...which,
  );
  for (const [bucket, hour, isDeleted, ...cells] of rows) {
    const used = nothing();
    for (const [i, { name }] of FIGURES.entries()) used[name] = Number(cells[i]);
    yield { ...used, bucket: Number(bucket), hour: Number(hour), hasDeleted: isDeleted === 1 };
  }
}

function nothing(): Used {
  const zeros = Object.fromEntries(FIGURES.map(({ name }) => [name, 0]));
  return { ...zeros as Omit<Used, "hasDeleted">, hasDeleted: false };
}

function add(sum: Used, point: Point, figures: Readonly<Partial<Record<Figure, string>>>): void {
  for (const name of Object.keys(figures) as Figure[]) sum[name] += point[name];
}
