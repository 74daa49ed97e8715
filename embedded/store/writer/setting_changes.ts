import type { Input, Result, Versioning } from "@/embedded/store/changes.ts";
import { versionIdOf, versionNumber } from "@/embedded/store/objects.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/**
 * Sets or removes the tags of a version.
 *
 * @throws {StoreError} NoSuchBucket, NoSuchKey, NoSuchVersion or IsMarker
 */
export function setTags(
  index: Statements,
  { bucket, key, version, tags }: Input<"setTags">,
): Result<"setTags"> {
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

/**
 * Sets or removes the access list of a bucket.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function setBucketAcl(index: Statements, { bucket, acl }: Input<"setBucketAcl">): null {
  const { changes } = index.run("UPDATE buckets SET acl = ? WHERE id = ?", acl, bucket);
  if (changes === 0) throw new StoreError("NoSuchBucket");
  return null;
}

/**
 * Sets or removes the access list of a version, wherever it is by now.
 *
 * @throws {StoreError} NoSuchKey when it is gone
 */
export function setObjectAcl(index: Statements, { bucket, key, seq, acl }: Input<"setObjectAcl">): null {
  for (const table of ["objects", "history"]) {
    const of = `UPDATE ${table} SET acl = ? WHERE bucket = ? AND key = ? AND seq = ?`;
    if (index.run(of, acl, bucket, key, seq).changes > 0) return null;
  }
  throw new StoreError("NoSuchKey");
}

/**
 * Sets or removes the CORS rules of a bucket.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function setBucketCors(index: Statements, { bucket, cors }: Input<"setBucketCors">): Result<"setBucketCors"> {
  return setCors(index, "buckets", bucket, cors) ?? reject("NoSuchBucket");
}

/**
 * Sets or removes the CORS rules of a tenant.
 *
 * @throws {StoreError} NotFound
 */
export function setTenantCors(index: Statements, { tenant, cors }: Input<"setTenantCors">): Result<"setTenantCors"> {
  return setCors(index, "tenants", tenant, cors) ?? reject("NotFound");
}

function setCors(index: Statements, table: "buckets" | "tenants", id: number, cors: string | null) {
  const row = index.row(`SELECT cors IS NOT NULL FROM ${table} WHERE id = ?`, id);
  index.run(`UPDATE ${table} SET cors = ? WHERE id = ?`, cors, id);
  return row && { hadRules: row[0] === 1 };
}

function reject(code: "NoSuchBucket" | "NotFound"): never {
  throw new StoreError(code);
}
