import type { Input, Result } from "@/embedded/store/changes.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { setVersioning } from "./account_changes.ts";
import { deleteOldVersions } from "./object_changes.ts";
import { StoredCounts } from "./usage_counters.ts";

const MS_PER_DAY = 24 * 60 * 60 * 1000;

/** At how many versions, or parts of their bodies, one change stops: other changes wait for the commit. */
const PRUNE_LIMIT = 200;

/** How many deletion records one change removes. */
const CLEAR_LIMIT = 1000;

/** How many old versions are read at a time: each may have 10,000 parts. */
const PRUNE_STEP = 10;

/**
 * Sets how a bucket retains versions, or resets it to the defaults.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function setVersionSettings(
  index: Statements,
  { bucket, versioning, settings }: Input<"setVersionSettings">,
): null {
  const row = index.row("SELECT version_settings FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  const merged = settings === "defaults" ? {} : { ...JSON.parse(String(row[0])), ...settings };
  index.run("UPDATE buckets SET version_settings = ? WHERE id = ?", JSON.stringify(merged), bucket);
  return versioning === null ? null : setVersioning(index, { bucket, versioning });
}

/**
 * Removes versions and markers that have been old for their bucket's `pruneDays`, some at a time: `pruned` is 0 when none
 * is left.
 */
export function pruneVersions(
  index: Statements,
  { atMs }: Input<"pruneVersions">,
): Result<"pruneVersions"> {
  let parts = 0;
  const done: { bucket: number; pruned: number }[] = [];
  const buckets = index.rows(
    `SELECT id, coalesce(json_extract(version_settings, '$.pruneDays'), 0) FROM buckets
     WHERE json_extract(version_settings, '$.prune') = 1`,
  );
  for (const [bucket, days] of buckets) {
    const removed = new StoredCounts();
    let pruned = 0;
    while (parts < PRUNE_LIMIT) {
      const old = index.rows(
        `SELECT key, seq, is_marker FROM history WHERE bucket = ? AND old_ms <= ? ORDER BY old_ms LIMIT ${PRUNE_STEP}`,
        bucket,
        atMs - Number(days) * MS_PER_DAY,
      );
      if (old.length === 0) break;
      parts += deleteOldVersions(index, Number(bucket), old, removed);
      pruned += old.length;
    }
    removed.write(index, Number(bucket));
    if (pruned > 0) done.push({ bucket: Number(bucket), pruned });
  }
  return { pruned: done.reduce((sum, { pruned }) => sum + pruned, 0), buckets: done };
}

/**
 * Removes the deletion records of buckets that keep none, prune at once and are not searched, some at a time: `cleared`
 * is 0 when none is left.
 */
export function clearDeletionRecords(index: Statements): Result<"clearDeletionRecords"> {
  const row = index.row(
    `SELECT id FROM buckets WHERE json_extract(version_settings, '$.prune') = 1
     AND coalesce(json_extract(version_settings, '$.pruneDays'), 0) = 0
     AND coalesce(json_extract(version_settings, '$.keepDeletionRecords'), 0) = 0
     AND coalesce(json_extract(record, '$.searchEnabled'), 0) = 0
     AND EXISTS (SELECT 1 FROM deletion_records WHERE bucket = buckets.id) LIMIT 1`,
  );
  if (!row) return { cleared: 0 };
  const { changes } = index.run(
    `DELETE FROM deletion_records WHERE (bucket, key, seq) IN
     (SELECT bucket, key, seq FROM deletion_records WHERE bucket = ? LIMIT ${CLEAR_LIMIT})`,
    row[0],
  );
  return { cleared: changes };
}
