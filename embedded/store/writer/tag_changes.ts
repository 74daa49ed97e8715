import type { Changes, Versioning } from "@/embedded/store/changes.ts";
import { versionIdOf, versionNumber } from "@/embedded/store/objects.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** Sets or takes away the tags of a version. Throws {@link StoreError} NoSuchBucket, NoSuchKey, NoSuchVersion or IsMarker. */
export function setTags(
  index: Statements,
  { bucket, key, version, tags }: Changes["setTags"]["given"],
): Changes["setTags"]["result"] {
  const row = index.row("SELECT versioning FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  const versioning = row[0] as Versioning;
  const current = index.row("SELECT seq, is_null FROM objects WHERE bucket = ? AND key = ?", bucket, key);
  if (version === null) {
    if (!current) throw new StoreError("NoSuchKey");
    index.run("UPDATE objects SET tags = ? WHERE bucket = ? AND key = ?", tags, bucket, key);
    return { version: versionIdOf(current[0], current[1], versioning) };
  }
  const wantsNull = version === "null";
  const wanted = versionNumber(version);
  if (current && (wantsNull ? current[1] === 1 : current[1] === 0 && current[0] === wanted)) {
    index.run("UPDATE objects SET tags = ? WHERE bucket = ? AND key = ?", tags, bucket, key);
  } else {
    const old = index.row(
      `SELECT seq, is_marker FROM history WHERE bucket = ? AND key = ? AND ${
        wantsNull ? "is_null = 1 AND ? IS NOT NULL" : "is_null = 0 AND seq = ?"
      }`,
      bucket,
      key,
      wanted,
    );
    if (!old) throw new StoreError("NoSuchVersion");
    if (old[1] === 1) throw new StoreError("IsMarker");
    index.run("UPDATE history SET tags = ? WHERE bucket = ? AND key = ? AND seq = ?", tags, bucket, key, old[0]);
  }
  return { version };
}
