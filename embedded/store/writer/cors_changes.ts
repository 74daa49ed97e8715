import type { Changes } from "@/embedded/store/changes.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** Sets or takes away the CORS rules of a bucket. Throws {@link StoreError} NoSuchBucket. */
export function setBucketCors(
  index: Statements,
  { bucket, cors }: Changes["setBucketCors"]["given"],
): Changes["setBucketCors"]["result"] {
  const row = index.row("SELECT cors IS NOT NULL FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  index.run("UPDATE buckets SET cors = ? WHERE id = ?", cors, bucket);
  return { hadRules: row[0] === 1 };
}

/** Sets or takes away the CORS rules of a tenant. Throws {@link StoreError} NotFound. */
export function setTenantCors(
  index: Statements,
  { tenant, cors }: Changes["setTenantCors"]["given"],
): Changes["setTenantCors"]["result"] {
  const row = index.row("SELECT cors IS NOT NULL FROM tenants WHERE id = ?", tenant);
  if (!row) throw new StoreError("NotFound");
  index.run("UPDATE tenants SET cors = ? WHERE id = ?", cors, tenant);
  return { hadRules: row[0] === 1 };
}
