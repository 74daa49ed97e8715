import { permissionsOf } from "@/embedded/store/access.ts";
import type { AuditDetails, ChangeOrigin, ReportedChange, VersionId, Versioning } from "@/embedded/store/changes.ts";
import { folded } from "@/embedded/store/names.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import type { StoreErrorCode } from "@/embedded/store/store_error.ts";
import { rolesOf } from "@/embedded/store/stored_accounts.ts";
import { versionIdOf } from "@/embedded/store/stored_objects.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import { groupChanges, tenantChanges, userChanges } from "./account_changes.ts";
import { bucketChanges, documentChanges, upkeepChanges } from "./bucket_changes.ts";
import { objectChanges } from "./object_changes.ts";
import { uploadChanges } from "./upload_changes.ts";
import { usageChanges } from "./usage_changes.ts";

/** The reported parts of a change beside its requester. */
interface AuditEntry {
  /** Null: none, or the system level. */
  readonly tenant: string | null;
  readonly action: AuditAction;
  readonly bucket?: string | null;
  readonly key?: Uint8Array;
  readonly version?: string | null;
  /** The name of an account, a group, a tenant or a class. */
  readonly name?: string | null;
  /** Those without a value are left out. */
  readonly details?: Readonly<Record<string, AuditDetails[string] | null | undefined>>;
}

/**
 * Reads the names of a change's target while the target exists.
 *
 * @returns the reports of the change by its result: none for changes that the gateway records itself
 */
export function reported(index: Statements, change: Change): (result: Result<ChangeKind>) => readonly ReportedChange[] {
  const { origin } = change;
  const entriesOf = origin?.isByGateway ? null : describe(index, change.kind, change.input);
  if (entriesOf === null) return () => [];
  return (result) =>
    entriesOf(result).map((entry) => {
      const { tenant, action, bucket, key, version, name, details = {} } = entry;
      const { actor = null, isSystem, address = null, requestId = null } = origin ?? {};
      return {
        action,
        tenant,
        actor: actor === null ? null : { name: actor, tenant: isSystem ? null : tenant },
        address,
        requestId,
        target: {
          kind: kindOf(entry),
          ...stated({ bucket, key: key && new TextDecoder().decode(key), version_id: version, name }),
        },
        details: stated(details),
      };
    });
}

/** The members that have a value. */
function stated<T>(members: Readonly<Record<string, T | null | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => value == null ? [] : [[name, value] as const]),
  );
}

function kindOf({ action, bucket, key, name, details }: AuditEntry): ReportedChange["target"]["kind"] {
  if (key) return "object";
  if (action.startsWith("tenant_")) return "tenant";
  if (action.startsWith("content_class_")) return "content_class";
  if (action.startsWith("group_") || details?.group === true) return "group";
  if (name != null) return "account";
  return bucket == null ? "tenant" : "bucket";
}

function describe<K extends ChangeKind>(
  index: Statements,
  kind: K,
  input: Input<K>,
): ((result: Result<ChangeKind>) => readonly AuditEntry[]) | null {
  const recorded = RECORDED[kind];
  if (recorded === null) return null;
  // The result of a change is that of its kind: the writer applies both by the same name.
  return recorded(index, input) as (result: Result<ChangeKind>) => readonly AuditEntry[];
}

type Recorded<K extends ChangeKind> = (
  index: Statements,
  input: Input<K>,
) => (result: Result<K>) => readonly AuditEntry[];

/** The record of each kind of change; null: none. Parts of an upload are recorded when they become an object. */
const RECORDED: { readonly [K in ChangeKind]: Recorded<K> | null } = {
  createTenant: (_, { name, firstUser, firstGroup }) => {
    const tenant = folded(name);
    return entries([
      { tenant, action: "tenant_create", name },
      ...(firstUser ? [created({ tenant }, "account_create", firstUser)] : []),
      ...(firstGroup ? [created({ tenant }, "group_create", firstGroup)] : []),
    ]);
  },
  modifyTenant: (index, { tenant, record }) =>
    entry({ ...tenantOf(index, tenant), action: "tenant_settings", details: { settings: names(record) } }),
  deleteTenant: (index, { tenant }) => entry({ ...tenantOf(index, tenant), action: "tenant_delete" }),

  createUser: (index, { tenant, isRecovery, ...user }) =>
    entry(created(tenantOf(index, tenant), "account_create", user, { recovery: isRecovery || null })),
  modifyUser: (index, { user, record, passwordMd5, isRecovery }) => {
    const action = passwordMd5 === null ? "account_change" : "password_change";
    const details = { settings: names(record) || null, roles: roles(record), recovery: isRecovery || null };
    return entry({ ...nameOf(index, "users", user), action, details });
  },
  deleteUser: (index, { user }) => entry({ ...nameOf(index, "users", user), action: "account_delete" }),
  countFailure: null,
  resetFailures: null,

  createGroup: (index, { tenant, members, ...group }) =>
    entry(created(tenantOf(index, tenant), "group_create", group, { members: members.length })),
  modifyGroup: (index, { group, record, members }) => {
    const details = { settings: names(record), roles: roles(record), members: members?.length };
    return entry({ ...nameOf(index, "groups", group), action: "group_change", details });
  },
  deleteGroup: (index, { group }) => entry({ ...nameOf(index, "groups", group), action: "group_delete" }),
  setGrants: (index, { to, grants }) => {
    const { name } = "user" in to ? nameOf(index, "users", to.user) : nameOf(index, "groups", to.group);
    return entries(grants.map(({ bucket, permissions }): AuditEntry => {
      const details = { permissions: permissionsOf(permissions).join(", "), group: "group" in to || null };
      return { ...bucketOf(index, bucket), action: "permissions_change", name, details };
    }));
  },

  createBucket: (index, { tenant: id, name, versioning }) => {
    const { tenant } = tenantOf(index, id);
    return entry({ tenant, action: "bucket_create", bucket: name, details: { versioning } });
  },
  updateBucket: (index, { bucket, name, owner, settings }) => {
    const changed = [...Object.keys(settings), ...(owner === undefined ? [] : ["owner"])];
    const details = { settings: changed.join(", ") || null, name };
    return entry({ ...bucketOf(index, bucket), action: "bucket_settings", details });
  },
  deleteBucket: (index, { bucket }) => entry({ ...bucketOf(index, bucket), action: "bucket_delete" }),
  setVersionSettings: (index, { bucket, versioning, settings }) => {
    const isReset = settings === "defaults";
    const changed = isReset ? "versioningSettings" : names(settings) || "versioning";
    const details = { settings: changed, removed: isReset || null, versioning };
    return entry({ ...bucketOf(index, bucket), action: "bucket_settings", details });
  },
  setBucketAcl: (index, { bucket, acl }) =>
    entry({ ...bucketOf(index, bucket), action: "bucket_acl", details: { removed: acl === null || null } }),
  setCors: (index, { of, cors }) => {
    const details = { settings: "cors", removed: cors === null };
    return "bucket" in of
      ? entry({ ...bucketOf(index, of.bucket), action: "bucket_settings", details })
      : entry({ tenant: tenantOf(index, of.tenant).tenant, action: "tenant_settings", details });
  },
  setDocument: (index, { mode, ...document }) =>
    entry(documentEntry(index, document, mode === "create" ? "create" : "change")),
  deleteDocument: (index, document) => entry(documentEntry(index, document, "delete")),
  noteAuditEnd: null,

  putObject: (index, { bucket, key, size }) => {
    const at = bucketOf(index, bucket);
    return ({ version, replaced }) => {
      const details = { bytes: size, replaced: replaced || null };
      return [{ ...at, key, action: "object_write", version, details }];
    };
  },
  deleteObjects: (index, { bucket, objects }) => {
    const at = bucketOf(index, bucket);
    return ({ outcomes }) =>
      objects.flatMap(({ key, version }, i) => {
        const outcome = outcomes[i];
        if (!("isMarker" in outcome)) return [];
        // The version that was named, or the one of the key, which may be a marker that was added.
        const details = { marker: outcome.isMarker || null, absent: outcome.wasAbsent || null };
        return [{ ...at, key, action: "object_delete", version: version ?? outcome.version, details }];
      });
  },
  setTags: (index, { bucket, key, version, tags }) => {
    const at = bucketOf(index, bucket);
    const details = { removed: tags === null || null };
    return (result) => [{ ...at, action: "object_tags", key, version: version ?? result.version, details }];
  },
  setObjectAcl: (index, { bucket, key, seq, acl }) => {
    const version = versionOf(index, bucket, key, seq);
    return entry({
      ...bucketOf(index, bucket),
      action: "object_acl",
      key,
      version,
      details: { removed: acl === null || null },
    });
  },
  pruneVersions: (index) => ({ buckets }) =>
    buckets.map(({ bucket, pruned }) => {
      return { ...bucketOf(index, bucket), action: "object_prune", details: { versions: pruned } };
    }),
  clearDeletionRecords: null,

  createUpload: null,
  putPart: null,
  completeUpload: (index, { bucket, key, parts }) => {
    const at = bucketOf(index, bucket);
    return ({ version, written: object }) => {
      if (object === null) return [];
      const details = { bytes: object.size, replaced: object.replaced || null, parts: parts.length };
      return [{ ...at, key, action: "object_write", version, details }];
    };
  },
  abortUpload: null,
  expireUploads: null,
  countReads: null,
  expireUsage: null,
};

function entries(all: readonly AuditEntry[]): () => readonly AuditEntry[] {
  return () => all;
}

function entry(one: AuditEntry): () => readonly AuditEntry[] {
  return entries([one]);
}

/** A new account or group, whose record is JSON. */
function created(
  { tenant }: { readonly tenant: string | null },
  action: "account_create" | "group_create",
  { name, record }: { readonly name: string; readonly record: string },
  more: AuditEntry["details"] = {},
): AuditEntry {
  return { tenant, action, name, details: { roles: roles(JSON.parse(record)), ...more } };
}

/** A settings document of a tenant or a bucket, or a class, which has a name. */
function documentEntry(
  index: Statements,
  { tenant, bucket, kind, name }: Input<"deleteDocument">,
  change: "create" | "change" | "delete",
): AuditEntry {
  const at = bucket === 0 ? { tenant: tenantOf(index, tenant).tenant } : bucketOf(index, bucket);
  if (kind === "contentClasses") return { ...at, action: `content_class_${change}`, name };
  const level = bucket === 0 ? "tenant_settings" : "bucket_settings";
  const action = kind === "permissions" ? "permissions_change" : level;
  return { ...at, action, details: { settings: kind, ...(name === "" ? {} : { name, change }) } };
}

interface Names {
  readonly tenant: string | null;
  readonly name: string | null;
}

function tenantOf(index: Statements, id: number): Names {
  return index.record("SELECT folded AS tenant, name FROM tenants WHERE id = ?", id) ?? NO_NAMES;
}

const NO_NAMES: Names = { tenant: null, name: null };

function bucketOf(index: Statements, id: number): { tenant: string | null; bucket: string | null } {
  const { tenant, name } = nameOf(index, "buckets", id);
  return { tenant, bucket: name };
}

function nameOf(index: Statements, table: "users" | "groups" | "buckets", id: number): Names {
  const joined = `${table} AS own LEFT JOIN tenants ON tenants.id = tenant`;
  return index.record(`SELECT tenants.folded AS tenant, own.name FROM ${joined} WHERE own.id = ?`, id) ?? NO_NAMES;
}

/** S3's name of a version; null where the bucket never had versioning. */
function versionOf(index: Statements, bucket: number, key: Uint8Array, seq: number): VersionId {
  const versioning = index.row("SELECT versioning FROM buckets WHERE id = ?", bucket)?.[0];
  for (const table of ["objects", "history"]) {
    const row = index.row(`SELECT is_null FROM ${table} WHERE bucket = ? AND key = ? AND seq = ?`, bucket, key, seq);
    if (row) return versionIdOf(seq, row[0], versioning as Versioning);
  }
  return null;
}

/** The names of the changed settings: at most as many as a record has members. */
function names(members: Readonly<Record<string, unknown>>): string {
  return Object.keys(members).join(", ");
}

/** The roles of an account's or a group's record; null where it says none. */
function roles(record: Readonly<Record<string, unknown>>): string | null {
  return record.roles === undefined ? null : rolesOf({ record }).join(", ");
}

/** Every kind of change of the index. Its input and its result are those of the function. */
export const CHANGES = {
  ...{ ...tenantChanges, ...userChanges, ...groupChanges },
  ...{ ...bucketChanges, ...documentChanges, ...upkeepChanges },
  ...{ ...objectChanges, ...uploadChanges, ...usageChanges },
};

export type ChangeKind = keyof typeof CHANGES;

export type Input<K extends ChangeKind> = Parameters<typeof CHANGES[K]>[1];

export type Result<K extends ChangeKind> = ReturnType<typeof CHANGES[K]>;

/** A change with its input and its requester; no `origin` for the store's own work. */
export type Change = { [K in ChangeKind]: { kind: K; input: Input<K>; origin?: ChangeOrigin } }[ChangeKind];

/**
 * The outcome of a change: its result with its audit records, an error by the store's rules, or a fault (damaged file).
 */
export type Outcome =
  | { ok: true; result: Result<ChangeKind>; reports: readonly ReportedChange[] }
  | { ok: false; error: StoreErrorCode }
  | { ok: false; fault: string };
