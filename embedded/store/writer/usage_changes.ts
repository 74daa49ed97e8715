import type { Change, ChangeKind, DeleteOutcome, Input, Result } from "@/embedded/store/changes.ts";
import type { Statements } from "@/embedded/store/statements.ts";

const MS_PER_HOUR = 60 * 60 * 1000;

/** Counts what a change did to a bucket, in the transaction of the change itself. */
export function recordUsage(index: Statements, change: Change, result: Result<ChangeKind>): void {
  switch (change.kind) {
    case "putObject":
    case "putPart":
      return count(index, change.input, { bytesIn: change.input.size, writes: 1 });
    case "completeUpload":
      return count(index, change.input, { writes: 1 });
    case "deleteObject":
      return count(index, change.input, { deletes: 1 });
    case "deleteObjects": {
      const deletes = result !== null && "outcomes" in result ? result.outcomes.filter(isDeleted).length : 0;
      if (deletes > 0) count(index, change.input, { deletes });
      return;
    }
    case "createUpload":
    case "abortUpload":
      return count(index, change.input, {});
    case "expireUploads":
    case "pruneVersions":
      if (removedOf(result) > 0) {
        recordAll(index, change.input.atMs);
      }
  }
}

function removedOf(result: Result<ChangeKind>): number {
  if (result === null) return 0;
  return "expired" in result ? result.expired : "pruned" in result ? result.pruned : 0;
}

function isDeleted(outcome: DeleteOutcome): boolean {
  return "isMarker" in outcome;
}

/** Counts the reads since the last call. Those of a deleted bucket are not counted. */
export function countReads(index: Statements, { reads }: Input<"countReads">): null {
  for (const { bucket, hour, reads: count, bytesOut } of reads) {
    index.run(
      `${INSERT} WHERE id = ? ON CONFLICT DO UPDATE SET reads = reads + excluded.reads, bytes_out = bytes_out + excluded.bytes_out`,
      hour,
      0,
      bytesOut,
      count,
      0,
      0,
      bucket,
    );
  }
  return null;
}

/** Removes hours before one, except the newest row of each bucket, which records what the bucket holds. */
export function expireUsage(index: Statements, { beforeHour }: Input<"expireUsage">): null {
  index.run(
    `DELETE FROM usage WHERE hour < ?1 AND EXISTS (
       SELECT 1 FROM usage AS newer WHERE newer.tenant = usage.tenant AND newer.bucket = usage.bucket
       AND newer.hour > usage.hour AND newer.hour <= ?1
     )`,
    beforeHour,
  );
  return null;
}

const POINTS = [
  "stored_count",
  "stored_bytes",
  "part_bytes",
  "multipart_objects",
  "multipart_object_parts",
  "multipart_object_bytes",
  "upload_count",
  "upload_parts",
];

const INSERT = `INSERT INTO usage (tenant, bucket, hour, bytes_in, bytes_out, reads, writes, deletes, ${POINTS})
  SELECT tenant, id, ?, ?, ?, ?, ?, ?, ${POINTS} FROM buckets`;

const ADD = `ON CONFLICT DO UPDATE SET bytes_in = bytes_in + excluded.bytes_in, writes = writes + excluded.writes,
  deletes = deletes + excluded.deletes, ${POINTS.map((name) => `${name} = excluded.${name}`)}`;

function count(
  index: Statements,
  { bucket, atMs }: { bucket: number; atMs: number },
  { bytesIn = 0, writes = 0, deletes = 0 }: { bytesIn?: number; writes?: number; deletes?: number },
): void {
  const hour = Math.floor(atMs / MS_PER_HOUR);
  index.run(`${INSERT} WHERE id = ? ${ADD}`, hour, bytesIn, 0, 0, writes, deletes, bucket);
}

/** What each bucket holds now, where it was used before. */
function recordAll(index: Statements, atMs: number): void {
  const hour = Math.floor(atMs / MS_PER_HOUR);
  const isUsed = "EXISTS (SELECT 1 FROM usage WHERE usage.tenant = buckets.tenant AND usage.bucket = buckets.id)";
  index.run(`${INSERT} WHERE ${isUsed} ${ADD}`, hour, 0, 0, 0, 0, 0);
}
