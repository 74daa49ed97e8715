import type { Statements } from "@/lib/embedded/store/index.ts";
import { roomIn } from "@/lib/embedded/store/quota.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";

/** Counts bytes and versions that became objects of a bucket, or went. */
export function countStored(index: Statements, bucket: number, bytes: number, versions: number): void {
  index.run(
    "UPDATE buckets SET stored_bytes = stored_bytes + ?, stored_count = stored_count + ? WHERE id = ?",
    bytes,
    versions,
    bucket,
  );
  countOfTenant(index, bucket, bytes);
}

/** Counts bytes that became parts of a bucket's uploads, or went. */
export function countParts(index: Statements, bucket: number, bytes: number): void {
  if (bytes === 0) return;
  index.run("UPDATE buckets SET part_bytes = part_bytes + ? WHERE id = ?", bytes, bucket);
  countOfTenant(index, bucket, bytes);
}

/**
 * Makes a change that adds at most so many bytes to a bucket. Throws {@link Refusal} QuotaExceeded where the bucket
 * grew beyond a quota; what makes it smaller passes, although it may still be beyond one.
 */
export function withinQuota<T>(index: Statements, bucket: number, bytes: number, change: () => T): T {
  const before = roomIn(index, bucket);
  const result = change();
  if (bytes > before) {
    const after = roomIn(index, bucket);
    if (after < 0 && after < before) throw new Refusal("QuotaExceeded");
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
