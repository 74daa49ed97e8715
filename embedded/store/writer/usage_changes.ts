import type { Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { roomIn } from "@/embedded/store/stored_buckets.ts";

/**
 * The figures of chargeback reports for the end of an interval, with their columns. Objects are all versions; uploads
 * are those under way.
 */
export const USAGE_POINTS = {
  objectCount: "stored_count",
  ingestedVolume: "stored_bytes",
  multipartObjects: "multipart_objects",
  multipartObjectParts: "multipart_object_parts",
  multipartObjectBytes: "multipart_object_bytes",
  multipartUploads: "upload_count",
  multipartUploadParts: "upload_parts",
  multipartUploadBytes: "part_bytes",
} as const;

const MS_PER_HOUR = 60 * 60 * 1000;

/** Collects the usage that a change adds to a bucket and removes from it, to write it at once. */
export class StoredCounts {
  readonly #counts = {
    stored_bytes: 0,
    stored_count: 0,
    multipart_objects: 0,
    multipart_object_parts: 0,
    multipart_object_bytes: 0,
  };

  /** Adds a version of so many bytes (`sign` 1), or removes it (-1); `parts` is null for one that was not uploaded in parts. */
  add(sign: 1 | -1, bytes: number, parts: number | null): void {
    this.#counts.stored_bytes += sign * bytes;
    this.#counts.stored_count += sign;
    if (parts === null) return;
    this.#counts.multipart_objects += sign;
    this.#counts.multipart_object_parts += sign * parts;
    this.#counts.multipart_object_bytes += sign * bytes;
  }

  /** Writes the counts of a bucket and its tenant. */
  write(index: Statements, bucket: number): void {
    addTo(index, bucket, this.#counts);
    countOfTenant(index, bucket, this.#counts.stored_bytes);
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
