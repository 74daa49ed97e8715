import { rolesOf } from "@/embedded/store/accounts.ts";
import type { Change, ChangeKind, Input, Result, VersionId, Versioning } from "@/embedded/store/changes.ts";
import { folded } from "@/embedded/store/names.ts";
import { versionIdOf } from "@/embedded/store/objects.ts";
import { permissionsOf } from "@/embedded/store/permissions.ts";
import type { AuditDetails, ReportedChange } from "@/embedded/store/reported_change.ts";
import { type Statements, textOrNull } from "@/embedded/store/statements.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";

/** What is reported of a change beside who requested it. */
interface AuditEntry {
  /** Null: none, or the system level. */
  readonly tenant: string | null;
  readonly action: AuditAction;
  readonly bucket?: string | null;
  readonly key?: Uint8Array;
  readonly version?: string | null;
  /** The name of an account, a group, a tenant or a class. */
  readonly name?: string | null;
  readonly details?: AuditDetails | null;
}

/**
 * Reads what is needed to name what a change is about, while it is still there.
 *
 * @returns what to report once the change is made, by its result: nothing of what the gateway records itself
 */
export function reported(
  index: Statements,
  change: Change,
): (result: Result<ChangeKind>) => readonly ReportedChange[] {
  const { origin } = change;
  const entriesOf = origin?.isByGateway ? null : describe(index, change.kind, change.input);
  if (entriesOf === null) return () => [];
  return (result) =>
    entriesOf(result).map((entry) => {
      const { tenant, action, details } = entry;
      const { actor = null, isSystem, address = null, requestId = null } = origin ?? {};
      return {
        action,
        tenant,
        actor: actor === null ? null : { name: actor, tenant: isSystem ? null : tenant },
        address,
        requestId,
        target: targetOf(entry),
        details: details ?? {},
      };
    });
}

function targetOf(entry: AuditEntry): ReportedChange["target"] {
  const { bucket, key, version, name } = entry;
  return {
    kind: kindOf(entry),
    ...(bucket == null ? {} : { bucket }),
    ...(key ? { key: new TextDecoder().decode(key) } : {}),
    ...(version == null ? {} : { version_id: version }),
    ...(name == null ? {} : { name }),
  };
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

/** What is recorded of each kind of change; null: nothing. Parts of an upload are recorded when they become an object. */
const RECORDED: { readonly [K in ChangeKind]: Recorded<K> | null } = {
  createTenant: (_, { name, firstUser, firstGroup }) => () => [
    { tenant: folded(name), action: "tenant_create", name },
    ...(firstUser
      ? [{
        tenant: folded(name),
        action: "account_create",
        name: firstUser.name,
        details: roles(JSON.parse(firstUser.record)),
      }] as const
      : []),
    ...(firstGroup
      ? [{
        tenant: folded(name),
        action: "group_create",
        name: firstGroup.name,
        details: roles(JSON.parse(firstGroup.record)),
      }] as const
      : []),
  ],
  deleteTenant: (index, { tenant }) => once({ ...tenantOf(index, tenant), action: "tenant_delete" }),
  modifyTenant: (index, { tenant, record }) =>
    once({
      ...tenantOf(index, tenant),
      action: "tenant_settings",
      details: { settings: names(record) },
    }),
  setTenantCors: (index, { tenant, cors }) =>
    once({
      tenant: tenantOf(index, tenant).tenant,
      action: "tenant_settings",
      details: { settings: "cors", removed: cors === null },
    }),

  createUser: (index, { tenant, name, record, isRecovery }) =>
    once({
      tenant: tenantOf(index, tenant).tenant,
      action: "account_create",
      name,
      details: { ...roles(JSON.parse(record)), ...recovery(isRecovery) },
    }),
  modifyUser: (index, { user, record, passwordMd5, isRecovery }) => {
    const at = nameOf(index, "users", user);
    const members = Object.keys(record).length > 0 ? { settings: names(record), ...roles(record) } : {};
    const details = { ...members, ...recovery(isRecovery) };
    return once({ ...at, action: passwordMd5 === null ? "account_change" : "password_change", details });
  },
  deleteUser: (index, { user }) => once({ ...nameOf(index, "users", user), action: "account_delete" }),
  countFailure: null,
  resetFailures: null,

  createGroup: (index, { tenant, name, record, members }) =>
    once({
      tenant: tenantOf(index, tenant).tenant,
      action: "group_create",
      name,
      details: { ...roles(JSON.parse(record)), members: members.length },
    }),
  modifyGroup: (index, { group, record, members }) =>
    once({
      ...nameOf(index, "groups", group),
      action: "group_change",
      details: {
        settings: names(record),
        ...roles(record),
        ...(members ? { members: members.length } : {}),
      },
    }),
  deleteGroup: (index, { group }) => once({ ...nameOf(index, "groups", group), action: "group_delete" }),

  grant: (index, { user, bucket, permissions }) => {
    const { name } = nameOf(index, "users", user);
    return once({ ...bucketOf(index, bucket), action: "permissions_change", name, details: allowed(permissions) });
  },
  setGrants: (index, { to, grants }) => {
    const at = "user" in to ? nameOf(index, "users", to.user) : nameOf(index, "groups", to.group);
    const entries = grants.map(({ bucket, permissions }): AuditEntry => ({
      ...bucketOf(index, bucket),
      action: "permissions_change",
      name: at.name,
      details: { ...allowed(permissions), ...("group" in to ? { group: true } : {}) },
    }));
    return () => entries;
  },

  createBucket: (index, { tenant, name, versioning }) =>
    once({
      tenant: tenantOf(index, tenant).tenant,
      action: "bucket_create",
      bucket: name,
      details: { versioning },
    }),
  deleteBucket: (index, { bucket }) => once({ ...bucketOf(index, bucket), action: "bucket_delete" }),
  updateBucket: (index, { bucket, name, owner, settings }) => {
    const changed = [...Object.keys(settings), ...(owner === undefined ? [] : ["owner"])];
    const renamed: AuditDetails = name === undefined ? {} : { name };
    const details: AuditDetails = { ...(changed.length > 0 ? { settings: changed.join(", ") } : {}), ...renamed };
    return once({ ...bucketOf(index, bucket), action: "bucket_settings", details });
  },
  setVersioning: (index, { bucket, versioning }) =>
    once({ ...bucketOf(index, bucket), action: "bucket_settings", details: { settings: "versioning", versioning } }),
  setVersionSettings: (index, { bucket, versioning, settings }) =>
    once({
      ...bucketOf(index, bucket),
      action: "bucket_settings",
      details: {
        settings: settings === "defaults" ? "versioningSettings" : names(settings) || "versioning",
        ...(settings === "defaults" ? { removed: true } : {}),
        ...(versioning === null ? {} : { versioning }),
      },
    }),
  setBucketCors: (index, { bucket, cors }) =>
    once({
      ...bucketOf(index, bucket),
      action: "bucket_settings",
      details: { settings: "cors", removed: cors === null },
    }),
  setBucketAcl: (index, { bucket, acl }) =>
    once({ ...bucketOf(index, bucket), action: "bucket_acl", details: acl === null ? { removed: true } : null }),
  setDocument: (index, { tenant, bucket, kind, name, mode }) =>
    once({ ...document(index, tenant, bucket, kind, name, mode === "create" ? "create" : "change") }),
  deleteDocument: (index, { tenant, bucket, kind, name }) =>
    once({ ...document(index, tenant, bucket, kind, name, "delete") }),

  noteAuditEnd: null,

  putObject: (index, { bucket, key, size }) => {
    const at = bucketOf(index, bucket);
    return ({ version, replaced }) => [{ ...at, key, ...written(version, size, replaced) }];
  },
  createUpload: null,
  putPart: null,
  abortUpload: null,
  expireUploads: null,
  completeUpload: (index, { bucket, key, parts }) => {
    const at = bucketOf(index, bucket);
    return ({ version, written: object }) => {
      if (object === null) return [];
      const { details, ...entry } = written(version, object.size, object.replaced);
      return [{ ...at, key, ...entry, details: { ...details, parts: parts.length } }];
    };
  },
  deleteObject: (index, { bucket, key, version }) => {
    const at = bucketOf(index, bucket);
    return (result) => [{ ...at, key, ...deleted(version, result) }];
  },
  deleteObjects: (index, { bucket, objects }) => {
    const at = bucketOf(index, bucket);
    return ({ outcomes }) =>
      objects.flatMap(({ key, version }, i) => {
        const outcome = outcomes[i];
        return "isMarker" in outcome ? [{ ...at, key, ...deleted(version, outcome) }] : [];
      });
  },
  setTags: (index, { bucket, key, version, tags }) => {
    const at = bucketOf(index, bucket);
    const details = tags === null ? { removed: true } : null;
    return (result) => [{ ...at, action: "object_tags", key, version: version ?? result.version, details }];
  },
  setObjectAcl: (index, { bucket, key, seq, acl }) => {
    const details = acl === null ? { removed: true } : null;
    return once({
      ...bucketOf(index, bucket),
      action: "object_acl",
      key,
      version: versionOf(index, bucket, key, seq),
      details,
    });
  },
  pruneVersions: (index) => ({ buckets }) =>
    buckets.map(({ bucket, pruned }) => ({
      ...bucketOf(index, bucket),
      action: "object_prune",
      details: { versions: pruned },
    })),
  clearDeletionRecords: null,
  countReads: null,
  expireUsage: null,
};

function once(entry: AuditEntry): () => readonly AuditEntry[] {
  return () => [entry];
}

function written(version: VersionId, size: number, replaced: boolean) {
  const details: AuditDetails = replaced ? { bytes: size, replaced } : { bytes: size };
  return { action: "object_write", version, details } as const;
}

/** A deletion: of the version that was named, or of the key, which may have added a marker. */
function deleted(named: string | null, { version, isMarker, wasAbsent }: Result<"deleteObject">) {
  const details: AuditDetails = {
    ...(isMarker ? { marker: true } : {}),
    ...(wasAbsent ? { absent: true } : {}),
  };
  const hasDetails = isMarker || wasAbsent;
  return { action: "object_delete", version: named ?? version, details: hasDetails ? details : null } as const;
}

/** A settings document of a tenant or a bucket, or a class, which has a name. */
function document(
  index: Statements,
  tenant: number,
  bucket: number,
  kind: string,
  name: string,
  what: "create" | "change" | "delete",
): AuditEntry {
  const at = bucket === 0 ? { tenant: tenantOf(index, tenant).tenant } : bucketOf(index, bucket);
  if (kind === "contentClasses") return { ...at, action: CONTENT_CLASS[what], name };
  const action: AuditAction = kind === "permissions"
    ? "permissions_change"
    : bucket === 0
    ? "tenant_settings"
    : "bucket_settings";
  const named: AuditDetails = name === "" ? {} : { name, change: what };
  return { ...at, action, details: { settings: kind, ...named } };
}

const CONTENT_CLASS = {
  create: "content_class_create",
  change: "content_class_change",
  delete: "content_class_delete",
} as const;

function tenantOf(index: Statements, id: number): { tenant: string | null; name: string | null } {
  const row = index.row("SELECT folded, name FROM tenants WHERE id = ?", id);
  return { tenant: textOrNull(row?.[0] ?? null), name: textOrNull(row?.[1] ?? null) };
}

function bucketOf(index: Statements, id: number): { tenant: string | null; bucket: string | null } {
  const row = index.row(
    "SELECT tenants.folded, buckets.name FROM buckets LEFT JOIN tenants ON tenants.id = tenant WHERE buckets.id = ?",
    id,
  );
  return { tenant: textOrNull(row?.[0] ?? null), bucket: textOrNull(row?.[1] ?? null) };
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

function nameOf(
  index: Statements,
  table: "users" | "groups",
  id: number,
): { tenant: string | null; name: string | null } {
  const row = index.row(
    `SELECT tenants.folded, own.name FROM ${table} AS own LEFT JOIN tenants ON tenants.id = tenant WHERE own.id = ?`,
    id,
  );
  return { tenant: textOrNull(row?.[0] ?? null), name: textOrNull(row?.[1] ?? null) };
}

/** The names of what was set, which may be at most as many as a record has members. */
function names(members: Readonly<Record<string, unknown>>): string {
  return Object.keys(members).join(", ");
}

/** The roles of an account's or a group's record, where it says any. */
function roles(record: Readonly<Record<string, unknown>>): AuditDetails {
  return record.roles === undefined ? {} : { roles: rolesOf({ record }).join(", ") };
}

/** Marks what the system level did to a tenant without an administrator. */
function recovery(isRecovery = false): AuditDetails {
  return isRecovery ? { recovery: true } : {};
}

function allowed(permissions: number): AuditDetails {
  return { permissions: permissionsOf(permissions).join(", ") };
}
