import { aclForNewOwner, maskOf, parseAcl, S3_ACCESS, s3AccessOf, serializeAcl } from "@/embedded/store/access.ts";
import type { NamedDocument, Versioning } from "@/embedded/store/changes.ts";
import { AUDIT_END, type Document, mergedDocument } from "@/embedded/store/documents.ts";
import { folded } from "@/embedded/store/names.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { type Members, mergeRecord, requireFreeName, requireTenant, setGrants } from "./account_changes.ts";
import { deleteOldVersions, type Version } from "./object_changes.ts";
import { discardUploads } from "./upload_changes.ts";
import { countHoldings, StoredCounts } from "./usage_changes.ts";

const MS_PER_DAY = 24 * 60 * 60 * 1000;

/** At how many versions, or parts of their bodies, one change stops: other changes wait for the commit. */
const PRUNE_LIMIT = 200;

/** How many old versions are read at a time: each may have 10,000 parts. */
const PRUNE_STEP = 10;

/** How many deletion records one change removes. */
const CLEAR_LIMIT = 1000;

/**
 * Creates a bucket, which is a namespace. The owner, where there is one, gets `ownerPermissions` on it; with `isLimited`
 * the tenant's `maxNamespacesPerUser` applies.
 *
 * @throws {StoreError} NameTaken, TooManyBuckets or TooManyOwned by the tenant's quotas, or NotFound when tenant or
 *   owner is gone
 */
function createBucket(
  index: Statements,
  input: {
    tenant: number;
    name: string;
    guid: string;
    owner: number | null;
    ownerPermissions: number;
    versioning: Versioning;
    /** JSON: the settings of versioning that were set; none by default. */
    versionSettings?: string;
    /** JSON, as is the access list. */
    record: string;
    acl?: string | null;
    isLimited?: boolean;
    atMs: number;
  },
): { id: number } {
  const { tenant, name, guid, owner, versioning, versionSettings = "{}", record, acl = null, atMs } = input;
  requireTenant(index, tenant);
  requireFreeName(index, "buckets", { tenant, name });
  requireNamespaceQuota(index, tenant);
  if (owner !== null && input.isLimited) requireOwnersRoom(index, tenant, owner);
  const row = { tenant, name, folded: folded(name), guid, owner, versioning, record, acl, created_ms: atMs };
  const { id } = index.insert("buckets", { ...row, version_settings: versionSettings });
  if (owner !== null) grantOwner(index, id, owner, input.ownerPermissions);
  return { id };
}

/**
 * Removes a bucket with the uploads in parts that are still open in it.
 *
 * @throws {StoreError} NoSuchBucket, or BucketNotEmpty while any version, marker or deletion record remains
 */
function deleteBucket(index: Statements, { bucket }: { bucket: number }): void {
  for (const table of ["objects", "history", "deletion_records"]) {
    if (index.row(`SELECT 1 FROM ${table} WHERE bucket = ? LIMIT 1`, bucket)) throw new StoreError("BucketNotEmpty");
  }
  discardUploads(index, bucket);
  if (index.run("DELETE FROM buckets WHERE id = ?", bucket).changes === 0) throw new StoreError("NoSuchBucket");
  for (const table of ["grants", "group_grants", "documents"]) {
    index.run(`DELETE FROM ${table} WHERE bucket = ?`, bucket);
  }
}

/**
 * Changes the name, the owner or settings of a bucket. A new owner gets `ownerPermissions` beside those it has; null
 * takes the owner away.
 *
 * @throws {StoreError} NoSuchBucket, NameTaken, TooManyOwned, or NotFound when the owner is gone
 */
function updateBucket(
  index: Statements,
  { bucket, name, owner, ownerPermissions, settings }: {
    bucket: number;
    name?: string;
    owner?: number | null;
    ownerPermissions: number;
    settings: Members;
  },
): void {
  const row = index.row("SELECT tenant, owner FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  const tenant = Number(row[0]);
  if (name !== undefined) {
    requireFreeName(index, "buckets", { tenant, name, except: bucket });
    index.run("UPDATE buckets SET name = ?, folded = ? WHERE id = ?", name, folded(name), bucket);
  }
  if (owner !== undefined) {
    if (owner !== null) {
      if (row[1] !== owner) requireOwnersRoom(index, tenant, owner);
      const held = index.row("SELECT permissions FROM grants WHERE user = ? AND bucket = ?", owner, bucket);
      grantOwner(index, bucket, owner, Number(held?.[0] ?? 0) | ownerPermissions);
    }
    transferOwnership(index, bucket, owner);
  }
  mergeRecord(index, "buckets", bucket, settings);
}

function grantOwner(index: Statements, bucket: number, user: number, permissions: number): void {
  setGrants(index, { to: { user }, grants: [{ bucket, permissions }] });
}

/** Changes the owner of a bucket, with the grants of its access list to the owner. */
function transferOwnership(index: Statements, bucket: number, owner: number | null): void {
  const row = index.row(
    "SELECT acl, users.guid FROM buckets JOIN users ON users.id = owner WHERE buckets.id = ? AND acl IS NOT NULL",
    bucket,
  );
  const acl = row && parseAcl(String(row[0]));
  if (row && acl) {
    const next = index.text("SELECT guid FROM users WHERE id = ?", owner);
    const passed = serializeAcl(aclForNewOwner(acl, String(row[1]), next));
    index.run("UPDATE buckets SET acl = ? WHERE id = ?", passed, bucket);
  }
  index.run("UPDATE buckets SET owner = ? WHERE id = ?", owner, bucket);
}

/** `namespaceQuota` is a number as text, or a word where there is no limit. */
function requireNamespaceQuota(index: Statements, tenant: number): void {
  const quota = index.text("SELECT json_extract(record, '$.namespaceQuota') FROM tenants WHERE id = ?", tenant) ?? "";
  if (!/^[0-9]+$/.test(quota)) return;
  const present = index.row("SELECT count(*) FROM buckets WHERE tenant = ?", tenant)?.[0];
  if (Number(present) >= Number(quota)) throw new StoreError("TooManyBuckets");
}

/** @throws {StoreError} TooManyOwned where a user owns as many buckets as the tenant's `maxNamespacesPerUser` allows */
function requireOwnersRoom(index: Statements, tenant: number, owner: number): void {
  const setting = "SELECT json_extract(record, '$.maxNamespacesPerUser') FROM tenants WHERE id = ?";
  const most = index.row(setting, tenant)?.[0];
  if (typeof most !== "number") return;
  const owned = index.row("SELECT count(*) FROM buckets WHERE owner = ?", owner)?.[0];
  if (Number(owned) >= most) throw new StoreError("TooManyOwned");
}

/**
 * Sets how a bucket retains versions: merges settings, or resets them to the defaults, and switches versioning unless it
 * is null. A bucket that ever had versions cannot return to "off", which would hide them: it becomes "suspended".
 *
 * @throws {StoreError} NoSuchBucket
 */
function setVersionSettings(
  index: Statements,
  { bucket, versioning, settings }: { bucket: number; versioning: Versioning | null; settings: Members | "defaults" },
): void {
  const row = index.row("SELECT version_settings, versioning FROM buckets WHERE id = ?", bucket);
  if (!row) throw new StoreError("NoSuchBucket");
  const merged = settings === "defaults" ? {} : { ...JSON.parse(String(row[0])), ...settings };
  const switched = versioning === "off" && row[1] !== "off" ? "suspended" : versioning ?? row[1];
  const update = "UPDATE buckets SET version_settings = ?, versioning = ? WHERE id = ?";
  index.run(update, JSON.stringify(merged), switched, bucket);
}

/**
 * Sets or removes the access list (JSON) of a bucket.
 *
 * @throws {StoreError} NoSuchBucket
 */
function setBucketAcl(index: Statements, { bucket, acl }: { bucket: number; acl: string | null }): void {
  const { changes } = index.run("UPDATE buckets SET acl = ? WHERE id = ?", acl, bucket);
  if (changes === 0) throw new StoreError("NoSuchBucket");
}

/**
 * Sets or removes the CORS rules (XML) of a bucket or a tenant.
 *
 * @throws {StoreError} NoSuchBucket or NotFound
 */
function setCors(
  index: Statements,
  { of, cors }: { of: { bucket: number } | { tenant: number }; cors: string | null },
): { hadRules: boolean } {
  const [table, id] = "bucket" in of ? ["buckets", of.bucket] as const : ["tenants", of.tenant] as const;
  const row = index.row(`SELECT cors IS NOT NULL FROM ${table} WHERE id = ?`, id);
  if (!row) throw new StoreError("bucket" in of ? "NoSuchBucket" : "NotFound");
  index.run(`UPDATE ${table} SET cors = ? WHERE id = ?`, cors, id);
  return { hadRules: row[0] === 1 };
}

/**
 * Creates a document of the management API, or merges members into one, and updates the columns that it decides.
 *
 * @throws {StoreError} NotFound or NoSuchBucket when tenant or bucket are gone, NameTaken for an existing one that was
 *   to be created, NotFound for an absent one that was to be modified
 */
function setDocument(
  index: Statements,
  input: NamedDocument & { mode: "create" | "modify" | "set"; document: Document },
): void {
  const { tenant, bucket, kind, name, mode, document } = input;
  if (!index.row("SELECT 1 FROM tenants WHERE id = ?", tenant)) throw new StoreError("NotFound");
  if (bucket !== 0 && !index.row("SELECT 1 FROM buckets WHERE id = ? AND tenant = ?", bucket, tenant)) {
    throw new StoreError("NoSuchBucket");
  }
  const at = [tenant, bucket, kind, folded(name)] as const;
  const present = index.text(`SELECT document FROM documents WHERE ${BY_NAME}`, ...at);
  if (present && mode === "create") throw new StoreError("NameTaken");
  if (!present && mode === "modify") throw new StoreError("NotFound");
  // Merged here, so that two changes at once do not undo each other.
  const merged = mergedDocument(JSON.parse(present ?? "{}"), document);
  index.run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", ...at, JSON.stringify(merged));
  if (kind === "permissions") {
    const [table, id] = bucket === 0 ? ["tenants", tenant] : ["buckets", bucket];
    index.run(`UPDATE ${table} SET permission_mask = ? WHERE id = ?`, maskOf(merged), id);
  }
  if (kind === "protocols/http") {
    index.run("UPDATE buckets SET s3_access = ? WHERE id = ?", S3_ACCESS.indexOf(s3AccessOf(merged)), bucket);
  }
}

/**
 * Removes a named document.
 *
 * @throws {StoreError} NotFound
 */
function deleteDocument(index: Statements, { tenant, bucket, kind, name }: NamedDocument): void {
  const { changes } = index.run(`DELETE FROM documents WHERE ${BY_NAME}`, tenant, bucket, kind, folded(name));
  if (changes === 0) throw new StoreError("NotFound");
  if (kind === "contentClasses") removeContentClass(index, tenant, folded(name));
}

/** Takes a class that is gone out of what namespaces index by. */
function removeContentClass(index: Statements, tenant: number, foldedName: string): void {
  const kind = "customMetadataIndexingSettings";
  const select = "SELECT bucket, document FROM documents WHERE tenant = ? AND kind = ?";
  for (const [bucket, text] of index.rows(select, tenant, kind)) {
    const document: { contentClasses?: string[] } = JSON.parse(String(text));
    const contentClasses = document.contentClasses?.filter((name) => folded(name) !== foldedName);
    if (contentClasses?.length === document.contentClasses?.length) continue;
    const changed = JSON.stringify({ ...document, contentClasses });
    const update = "UPDATE documents SET document = ? WHERE tenant = ? AND bucket = ? AND kind = ?";
    index.run(update, changed, tenant, bucket, kind);
  }
}

const BY_NAME = "tenant = ? AND bucket = ? AND kind = ? AND folded = ?";

/** Stores the last position of the application's audit trail, whose records are in other files. */
function noteAuditEnd(index: Statements, { end }: { end: Members }): void {
  const { tenant, bucket, kind } = AUDIT_END;
  index.run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, '', ?)", tenant, bucket, kind, JSON.stringify(end));
}

/**
 * Removes versions and markers that have been old for their bucket's `pruneDays`, some at a time: `pruned` is 0 when none
 * is left.
 */
function pruneVersions(
  index: Statements,
  { atMs }: { atMs: number },
): { pruned: number; buckets: readonly { bucket: number; pruned: number }[] } {
  let parts = 0;
  const done: { bucket: number; pruned: number }[] = [];
  const buckets = index.rows(
    `SELECT id, coalesce(json_extract(version_settings, '$.pruneDays'), 0) FROM buckets
     WHERE json_extract(version_settings, '$.prune') = 1`,
  );
  const select = `SELECT * FROM history WHERE bucket = ? AND old_ms <= ? ORDER BY old_ms LIMIT ${PRUNE_STEP}`;
  for (const [id, days] of buckets) {
    const bucket = Number(id);
    const removed = new StoredCounts();
    let pruned = 0;
    while (parts < PRUNE_LIMIT) {
      const old = index.records<Version>(select, bucket, atMs - Number(days) * MS_PER_DAY);
      if (old.length === 0) break;
      parts += deleteOldVersions(index, old, removed);
      pruned += old.length;
    }
    removed.write(index, bucket);
    if (pruned > 0) done.push({ bucket, pruned });
  }
  if (done.length > 0) countHoldings(index, atMs);
  return { pruned: done.reduce((sum, { pruned }) => sum + pruned, 0), buckets: done };
}

/**
 * Removes the deletion records of buckets that keep none, prune at once and are not searched, some at a time: `cleared`
 * is 0 when none is left.
 */
function clearDeletionRecords(index: Statements, _: Record<never, never>): { cleared: number } {
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

/** The changes of buckets, of settings documents, and those of the maintenance. */
export const bucketChanges = { createBucket, deleteBucket, updateBucket, setVersionSettings, setBucketAcl, setCors };
export const documentChanges = { setDocument, deleteDocument, noteAuditEnd };
export const upkeepChanges = { pruneVersions, clearDeletionRecords };
