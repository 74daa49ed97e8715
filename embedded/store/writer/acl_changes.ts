import type { Changes } from "@/embedded/store/changes.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** Sets or takes away the access list of a bucket. Throws {@link StoreError} NoSuchBucket. */
export function setBucketAcl(index: Statements, { bucket, acl }: Changes["setBucketAcl"]["given"]): null {
  const { changes } = index.run("UPDATE buckets SET acl = ? WHERE id = ?", acl, bucket);
  if (changes === 0) throw new StoreError("NoSuchBucket");
  return null;
}

/** Sets or takes away the access list of a version, wherever it is by now. Throws {@link StoreError} NoSuchKey when it is gone. */
export function setObjectAcl(index: Statements, { bucket, key, seq, acl }: Changes["setObjectAcl"]["given"]): null {
  for (const table of ["objects", "history"]) {
    const of = `UPDATE ${table} SET acl = ? WHERE bucket = ? AND key = ? AND seq = ?`;
    if (index.run(of, acl, bucket, key, seq).changes > 0) return null;
  }
  throw new StoreError("NoSuchKey");
}
