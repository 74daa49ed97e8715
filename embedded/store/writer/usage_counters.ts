import { roomIn } from "@/embedded/store/quotas.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** Collects what a change adds to a bucket and removes from it, which is then written at once. */
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
    if (this.#versions !== 0 || this.#bytes !== 0) {
      index.run(
        "UPDATE buckets SET stored_bytes = stored_bytes + ?, stored_count = stored_count + ? WHERE id = ?",
        this.#bytes,
        this.#versions,
        bucket,
      );
      countOfTenant(index, bucket, this.#bytes);
    }
    const { objects, parts, bytes } = this.#multipart;
    if (objects === 0 && parts === 0 && bytes === 0) return;
    index.run(
      `UPDATE buckets SET multipart_objects = multipart_objects + ?, multipart_object_parts = multipart_object_parts + ?,
       multipart_object_bytes = multipart_object_bytes + ? WHERE id = ?`,
      objects,
      parts,
      bytes,
      bucket,
    );
  }
}

/** Counts bytes of parts that were added to a bucket's uploads or removed. */
export function countParts(index: Statements, bucket: number, bytes: number): void {
  if (bytes === 0) return;
  index.run("UPDATE buckets SET part_bytes = part_bytes + ? WHERE id = ?", bytes, bucket);
  countOfTenant(index, bucket, bytes);
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
