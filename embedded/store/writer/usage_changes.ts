import type { Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { roomIn } from "@/embedded/store/stored_buckets.ts";

/** Traffic and operations within an interval, with the columns of the index. */
const FLOWS = {
  bytesIn: "bytes_in",
  bytesOut: "bytes_out",
  reads: "reads",
  writes: "writes",
  deletes: "deletes",
} as const;

/** Stored at the end of an interval. Objects are all versions; `partBytes` are those of parts that are not yet an object. */
const USAGE_POINTS = {
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

const MS_PER_HOUR = 60 * 60 * 1000;

/** Collects the usage that a change adds to a bucket and removes from it, to write it at once. */
export class StoredCounts {
  #bytes = 0;
  #versions = 0;
  #multipart = { objects: 0, parts: 0, bytes: 0 };

  /** Adds a version of so many bytes (`sign` 1), or removes it (-1); `parts` is null for one that was not uploaded in parts. */
  add(sign: 1 | -1, bytes: number, parts: number | null): void {
    this.#bytes += sign * bytes;
    this.#versions += sign;
    if (parts === null) return;
    this.#multipart.objects += sign;
    this.#multipart.parts += sign * parts;
    this.#multipart.bytes += sign * bytes;
  }

  /** Writes the counts of a bucket and its tenant. */
  write(index: Statements, bucket: number): void {
    const { objects, parts, bytes } = this.#multipart;
    addTo(index, bucket, { stored_bytes: this.#bytes, stored_count: this.#versions });
    addTo(index, bucket, {
      multipart_objects: objects,
      multipart_object_parts: parts,
      multipart_object_bytes: bytes,
    });
    countOfTenant(index, bucket, this.#bytes);
  }
}

/** Counts bytes of parts that were added to a bucket's uploads or removed. */
export function countParts(index: Statements, bucket: number, bytes: number): void {
  addTo(index, bucket, { part_bytes: bytes });
  countOfTenant(index, bucket, bytes);
}

/** Counts multipart uploads that were started or ended, and their parts. */
export function countUploads(index: Statements, bucket: number, uploads: number, parts: number): void {
  addTo(index, bucket, { upload_count: uploads, upload_parts: parts });
}

/** Adds to columns of a bucket. */
function addTo(index: Statements, bucket: number, counts: Readonly<Record<string, number>>): void {
  if (Object.values(counts).every((count) => count === 0)) return;
  const sums = Object.keys(counts).map((column) => `${column} = ${column} + ?`);
  index.run(`UPDATE buckets SET ${sums.join(", ")} WHERE id = ?`, ...Object.values(counts), bucket);
}

function countOfTenant(index: Statements, bucket: number, bytes: number): void {
  if (bytes === 0) return;
  const tenant = "(SELECT tenant FROM buckets WHERE id = ?)";
  index.run(`UPDATE tenants SET used_bytes = used_bytes + ? WHERE id = ${tenant}`, bytes, bucket);
}

/**
 * Runs a change that adds at most so many bytes to a bucket.
 *
 * @throws {StoreError} QuotaExceeded where the bucket grew beyond a quota; a change that makes it smaller passes, even
 *   if it is still beyond one
 */
export function withinQuota<T>(index: Statements, bucket: number, bytes: number, change: () => T): T {
  const before = roomIn(index, bucket);
  const result = change();
  if (bytes > before) {
    const after = roomIn(index, bucket);
    if (after < 0 && after < before) throw new StoreError("QuotaExceeded");
  }
  return result;
}

/** Counts a change of a bucket, in the transaction of the change itself, and stores the bucket's usage. */
export function countUse(
  index: Statements,
  { bucket, atMs }: { readonly bucket: number; readonly atMs: number },
  { bytesIn = 0, writes = 0, deletes = 0 }: { bytesIn?: number; writes?: number; deletes?: number } = {},
): void {
  const hour = Math.floor(atMs / MS_PER_HOUR);
  index.run(`${INSERT} WHERE id = ? ${ADD}`, hour, bytesIn, 0, 0, writes, deletes, bucket);
}

/** Stores the usage of each bucket that was used before. */
export function countHoldings(index: Statements, atMs: number): void {
  const hour = Math.floor(atMs / MS_PER_HOUR);
  const isUsed = "EXISTS (SELECT 1 FROM usage WHERE usage.tenant = buckets.tenant AND usage.bucket = buckets.id)";
  index.run(`${INSERT} WHERE ${isUsed} ${ADD}`, hour, 0, 0, 0, 0, 0);
}

/** Counts the reads since the last call, by hours since 1970. Those of a deleted bucket are not counted. */
function countReads(
  index: Statements,
  { reads }: { reads: readonly { bucket: number; hour: number; reads: number; bytesOut: number }[] },
): void {
  const add = "ON CONFLICT DO UPDATE SET reads = reads + excluded.reads, bytes_out = bytes_out + excluded.bytes_out";
  for (const { bucket, hour, reads: count, bytesOut } of reads) {
    index.run(`${INSERT} WHERE id = ? ${add}`, hour, 0, bytesOut, count, 0, 0, bucket);
  }
}

/** Removes hours before one, except the newest row of each bucket, which has the bucket's usage. */
export function expireUsage(index: Statements, { beforeHour }: { beforeHour: number }): void {
  index.run(
    `DELETE FROM usage WHERE hour < ?1 AND EXISTS (
       SELECT 1 FROM usage AS newer WHERE newer.tenant = usage.tenant AND newer.bucket = usage.bucket
       AND newer.hour > usage.hour AND newer.hour <= ?1
     )`,
    beforeHour,
  );
}

const POINTS = Object.values(USAGE_POINTS);

const INSERT = `INSERT INTO usage (tenant, bucket, hour, bytes_in, bytes_out, reads, writes, deletes, ${POINTS})
  SELECT tenant, id, ?, ?, ?, ?, ?, ?, ${POINTS} FROM buckets`;

const ADD = `ON CONFLICT DO UPDATE SET bytes_in = bytes_in + excluded.bytes_in, writes = writes + excluded.writes,
  deletes = deletes + excluded.deletes, ${POINTS.map((name) => `${name} = excluded.${name}`)}`;

/** The changes of the counts of use. */
export const usageChanges = { countReads, expireUsage };
