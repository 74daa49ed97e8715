import { SYSTEM } from "@/embedded/store/accounts.ts";
import { aclForNewOwner, parseAcl, serializeAcl } from "@/embedded/store/acl.ts";
import type { Input, Result } from "@/embedded/store/changes.ts";
import { withAdministrator } from "@/embedded/store/last_administrator.ts";
import { folded } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { createGroup } from "./group_changes.ts";
import { mergeRecord, requireFreeName, tenantOf } from "./records.ts";
import { discardUploads } from "./upload_changes.ts";

/**
 * Creates a tenant with its first user and its first group.
 *
 * @throws {StoreError} NameTaken
 */
export function createTenant(
  index: Statements,
  { name, record, firstUser, firstGroup, atMs }: Input<"createTenant">,
): Result<"createTenant"> {
  if (index.row("SELECT 1 FROM tenants WHERE folded = ?", folded(name))) throw new StoreError("NameTaken");
  const { id } = index.insert("tenants", { name, folded: folded(name), record, created_ms: atMs });
  if (firstUser) createUser(index, { tenant: id, ...firstUser });
  if (firstGroup) createGroup(index, { tenant: id, ...firstGroup, members: [] });
  return { id };
}

/**
 * Removes a tenant with its users and groups.
 *
 * @throws {StoreError} NotFound, or BucketNotEmpty while it has buckets
 */
export function deleteTenant(index: Statements, { tenant }: Input<"deleteTenant">): null {
  if (index.row("SELECT 1 FROM buckets WHERE tenant = ? LIMIT 1", tenant)) throw new StoreError("BucketNotEmpty");
  if (index.run("DELETE FROM tenants WHERE id = ?", tenant).changes === 0) throw new StoreError("NotFound");
  index.run("DELETE FROM group_members WHERE group_id IN (SELECT id FROM groups WHERE tenant = ?)", tenant);
  for (const table of ["groups", "users", "documents", "usage"]) {
    index.run(`DELETE FROM ${table} WHERE tenant = ?`, tenant);
  }
  return null;
}

/**
 * Creates a user account.
 *
 * @throws {StoreError} NameTaken, NotFound when the tenant is gone, or AccessDenied for a recovery that is none
 */
export function createUser(
  index: Statements,
  { tenant, name, guid, passwordMd5, record, isRecovery = false }: Input<"createUser">,
): Result<"createUser"> {
  requireTenant(index, tenant);
  requireFreeName(index, "users", tenant, name);
  const user = { tenant, name, folded: folded(name), guid, password_md5: passwordMd5, record };
  const insert = () => index.insert("users", user);
  const { id } = isRecovery ? withAdministrator(index, tenant, true, insert) : insert();
  return { id };
}

/**
 * Removes a user account and its grants; buckets it owns stay, without an owner.
 *
 * @throws {StoreError} NotFound or LastAdministrator
 */
export function deleteUser(index: Statements, { user }: Input<"deleteUser">): null {
  const tenant = tenantOf(index, "users", user);
  withAdministrator(index, tenant, false, () => index.run("DELETE FROM users WHERE id = ?", user));
  index.run("DELETE FROM grants WHERE user = ?", user);
  index.run("DELETE FROM group_members WHERE user = ?", user);
  index.run("UPDATE buckets SET owner = NULL WHERE owner = ?", user);
  return null;
}

/**
 * Creates a bucket, which is a namespace.
 *
 * @throws {StoreError} NameTaken, TooManyBuckets or TooManyOwned by the tenant's quotas, or NotFound when tenant or
 *   owner is gone
 */
export function createBucket(
  index: Statements,
  input: Input<"createBucket">,
): Result<"createBucket"> {
  const { tenant, name, owner } = input;
  requireTenant(index, tenant);
  requireFreeName(index, "buckets", tenant, name);
  requireNamespaceQuota(index, tenant);
  if (owner !== null && input.isLimited) requireOwnersRoom(index, tenant, owner);
  const { id } = index.insert("buckets", {
    tenant,
    name,
    folded: folded(name),
    guid: input.guid,
    owner,
    versioning: input.versioning,
    version_settings: input.versionSettings ?? "{}",
    record: input.record,
    acl: input.acl ?? null,
    created_ms: input.atMs,
  });
  if (owner !== null) grant(index, { user: owner, bucket: id, permissions: input.ownerPermissions });
  return { id };
}

/**
 * Removes a bucket with the uploads in parts that are still open in it.
 *
 * @throws {StoreError} NoSuchBucket, or BucketNotEmpty while any version, marker or deletion record remains
 */
export function deleteBucket(index: Statements, { bucket }: Input<"deleteBucket">): null {
  for (const table of ["objects", "history", "deletion_records"]) {
    if (index.row(`SELECT 1 FROM ${table} WHERE bucket = ? LIMIT 1`, bucket)) throw new StoreError("BucketNotEmpty");
  }
  discardUploads(index, bucket);
  if (index.run("DELETE FROM buckets WHERE id = ?", bucket).changes === 0) throw new StoreError("NoSuchBucket");
  for (const table of ["grants", "group_grants", "documents"]) {
    index.run(`DELETE FROM ${table} WHERE bucket = ?`, bucket);
  }
  return null;
}

/**
 * Changes the name, the owner or settings of a bucket.
 *
 * @throws {StoreError} NoSuchBucket, NameTaken, or NotFound when the owner is gone
 */
export function updateBucket(index: Statements, input: Input<"updateBucket">): null {
  const { bucket, name, owner, settings } = input;
  const row = index.row("SELECT tenant FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  const tenant = Number(row[0]);
  if (name !== undefined) {
    requireFreeName(index, "buckets", tenant, name, bucket);
    index.run("UPDATE buckets SET name = ?, folded = ? WHERE id = ?", name, folded(name), bucket);
  }
  if (owner !== undefined) {
    if (owner !== null) {
      if (!index.row("SELECT 1 FROM buckets WHERE id = ? AND owner = ?", bucket, owner)) {
        requireOwnersRoom(index, tenant, owner);
      }
      const held = index.row("SELECT permissions FROM grants WHERE user = ? AND bucket = ?", owner, bucket);
      grant(index, { user: owner, bucket, permissions: Number(held?.[0] ?? 0) | input.ownerPermissions });
    }
    transferOwnership(index, bucket, owner);
  }
  mergeRecord(index, "buckets", bucket, settings);
  return null;
}

/** Changes the owner of a bucket, with the grants of its access list to the owner. */
function transferOwnership(index: Statements, bucket: number, owner: number | null): void {
  const row = index.row(
    "SELECT acl, users.guid FROM buckets JOIN users ON users.id = owner WHERE buckets.id = ? AND acl IS NOT NULL",
    bucket,
  );
  const acl = row && parseAcl(String(row[0]));
  if (row && acl) {
    const next = index.row("SELECT guid FROM users WHERE id = ?", owner);
    const passed = serializeAcl(aclForNewOwner(acl, String(row[1]), next && String(next[0])));
    index.run("UPDATE buckets SET acl = ? WHERE id = ?", passed, bucket);
  }
  index.run("UPDATE buckets SET owner = ? WHERE id = ?", owner, bucket);
}

/**
 * Switches versioning. A bucket that ever had versions cannot return to "off", which would hide them: it becomes
 * "suspended".
 *
 * @throws {StoreError} NoSuchBucket
 */
export function setVersioning(index: Statements, { bucket, versioning }: Input<"setVersioning">): null {
  const row = index.row("SELECT versioning FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  const stored = versioning === "off" && row[0] !== "off" ? "suspended" : versioning;
  index.run("UPDATE buckets SET versioning = ? WHERE id = ?", stored, bucket);
  return null;
}

/**
 * Sets what a user may do in a bucket; no permission at all removes the entry.
 *
 * @throws {StoreError} NotFound or NoSuchBucket when one of them is gone
 */
export function grant(index: Statements, { user, bucket, permissions }: Input<"grant">): null {
  if (!index.row("SELECT 1 FROM users WHERE id = ?", user)) throw new StoreError("NotFound");
  if (!index.row("SELECT 1 FROM buckets WHERE id = ?", bucket)) throw new StoreError("NoSuchBucket");
  if (permissions === 0) index.run("DELETE FROM grants WHERE user = ? AND bucket = ?", user, bucket);
  else index.run("INSERT OR REPLACE INTO grants VALUES (?, ?, ?)", user, bucket, permissions);
  return null;
}

/** `namespaceQuota` is a number as text, or a word where there is no limit. */
function requireNamespaceQuota(index: Statements, tenant: number): void {
  const quota = index.row("SELECT json_extract(record, '$.namespaceQuota') FROM tenants WHERE id = ?", tenant)?.[0];
  if (!/^[0-9]+$/.test(String(quota ?? ""))) return;
  const present = index.row("SELECT count(*) FROM buckets WHERE tenant = ?", tenant)?.[0];
  if (Number(present) >= Number(quota)) throw new StoreError("TooManyBuckets");
}

/** @throws {StoreError} TooManyOwned where a user owns as many buckets as the tenant's `maxNamespacesPerUser` allows */
function requireOwnersRoom(index: Statements, tenant: number, owner: number): void {
  const most = index.row("SELECT json_extract(record, '$.maxNamespacesPerUser') FROM tenants WHERE id = ?", tenant)
    ?.[0];
  if (typeof most !== "number") return;
  const owned = index.row("SELECT count(*) FROM buckets WHERE owner = ?", owner)?.[0];
  if (Number(owned) >= most) throw new StoreError("TooManyOwned");
}

/** A tenant may have been deleted since the caller looked it up; the system level has users without a tenant. */
function requireTenant(index: Statements, tenant: number): void {
  if (tenant !== SYSTEM && !index.row("SELECT 1 FROM tenants WHERE id = ?", tenant)) throw new StoreError("NotFound");
}
