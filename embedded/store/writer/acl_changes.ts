import type { Changes } from "@/embedded/store/changes.ts";
import { Refusal } from "@/embedded/store/refusal.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** Sets or takes away the access list of a bucket. Throws {@link Refusal} NoSuchBucket. */
export function setBucketAcl(index: Statements, { bucket, acl }: Changes["setBucketAcl"]["given"]): null {
  const { changes } = index.run("UPDATE buckets SET acl = ? WHERE id = ?", acl, bucket);
  if (changes === 0) throw new Refusal("NoSuchBucket");
  return null;
}

/** Sets or takes away the access list of a version, wherever it is by now. Throws {@link Refusal} NoSuchKey when it is gone. */
export function setObjectAcl(index: Statements, { bucket, key, seq, acl }: Changes["setObjectAcl"]["given"]): null {
  for (const table of ["objects", "history"]) {
    const of = `UPDATE ${table} SET acl = ? WHERE bucket = ? AND key = ? AND seq = ?`;
    if (index.run(of, acl, bucket, key, seq).changes > 0) return null;
  }
  throw new Refusal("NoSuchKey");
}
