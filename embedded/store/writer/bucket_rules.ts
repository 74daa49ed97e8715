import { versionSettings } from "@/embedded/store/buckets.ts";
import type { Versioning } from "@/embedded/store/changes.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** What a bucket's settings say about writes and deletions. */
export interface BucketRules {
  versioning: Versioning;
  useDeleteMarkers: boolean;
  keepDeletionRecords: boolean;
  /** Whether old versions are removed at once. */
  prunesAtOnce: boolean;
  /** Whether objects may be overwritten while the bucket has no versioning. */
  allowsOverwrite: boolean;
}

/**
 * The rules of a bucket.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function bucketRules(index: Statements, bucket: number): BucketRules {
  const row = index.row(
    "SELECT versioning, version_settings, json_extract(record, '$.s3UnversionedOverwrite') FROM buckets WHERE id = ?",
    bucket,
  );
  if (!row) throw new StoreError("NoSuchBucket");
  const settings = versionSettings(String(row[1]));
  return {
    versioning: row[0] as Versioning,
    useDeleteMarkers: settings.useDeleteMarkers,
    keepDeletionRecords: settings.keepDeletionRecords,
    prunesAtOnce: settings.prune && settings.pruneDays === 0,
    allowsOverwrite: row[2] !== 0,
  };
}
