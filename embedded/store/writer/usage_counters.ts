import { roomIn } from "@/embedded/store/quotas.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** Counts bytes and versions that were added to a bucket or removed. */
export function countStored(index: Statements, bucket: number, bytes: number, versions: number): void {
  index.run(
    "UPDATE buckets SET stored_bytes = stored_bytes + ?, stored_count = stored_count + ? WHERE id = ?",
    bytes,
    versions,
    bucket,
  );
  countOfTenant(index, bucket, bytes);
}

/** Counts bytes of parts that were added to a bucket's uploads or removed. */
export function countParts(index: Statements, bucket: number, bytes: number): void {
  if (bytes === 0) return;
  index.run("UPDATE buckets SET part_bytes = part_bytes + ? WHERE id = ?", bytes, bucket);
  countOfTenant(index, bucket, bytes);
}

/** Counts objects that were created from parts or removed, with their parts and bytes: `sign` is 1 or -1. */
export function countMultipart(index: Statements, bucket: number, sign: 1 | -1, parts: number, bytes: number): void {
  index.run(
    `UPDATE buckets SET multipart_objects = multipart_objects + ?1, multipart_object_parts = multipart_object_parts + ?1 * ?2,
     multipart_object_bytes = multipart_object_bytes + ?1 * ?3 WHERE id = ?4`,
    sign,
    parts,
    bytes,
    bucket,
  );
}

/** Counts uploads in parts that were begun or ended, and their parts. */
export function countUploads(index: Statements, bucket: number, uploads: number, parts: number): void {
  index.run(
    "UPDATE buckets SET upload_count = upload_count + ?, upload_parts = upload_parts + ? WHERE id = ?",
    uploads,
    parts,
    bucket,
  );
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

function countOfTenant(index: Statements, bucket: number, bytes: number): void {
  if (bytes === 0) return;
  index.run(
    "UPDATE tenants SET used_bytes = used_bytes + ? WHERE id = (SELECT tenant FROM buckets WHERE id = ?)",
    bytes,
    bucket,
  );
}
