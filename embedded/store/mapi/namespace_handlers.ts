import { randomUUID } from "node:crypto";
import { z } from "zod";
import { OWNER_PERMISSIONS, permissionMask, PERMISSIONS } from "@/embedded/store/access.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { newNamespace } from "@/embedded/store/documents.ts";
import { isBucketName } from "@/embedded/store/names.ts";
import type { Tenant } from "@/embedded/store/stored_accounts.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import {
  conflicting,
  forbidden,
  has,
  invalid,
  listResponse,
  managesNamespaces,
  mapiTime,
  only,
  permittedNamespace,
  readableNamespace,
  requireRight,
  type TenantRequest,
} from "./mapi_request.ts";
import {
  boolean,
  each,
  integer,
  isVerbose,
  members,
  oneOf,
  oneOfAnyCase,
  pageByName,
  parsed,
  quota,
  rule,
  selected,
  tags,
  text,
  wrapped,
} from "./request_schema.ts";
import { existingUsername } from "./user_accounts.ts";

/** The index stores `enabled` with the bucket, the others as they were set. */
export const versioningSettings = members({
  enabled: boolean,
  prune: boolean,
  pruneDays: integer(0, 36_500),
  useDeleteMarkers: boolean,
  keepDeletionRecords: boolean,
});

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/versioningSettings */
export function showVersioningSettings(request: TenantRequest): Response {
  const bucket = permittedNamespace(request, "read");
  const { prune, pruneDays, useDeleteMarkers, keepDeletionRecords } = request.store.buckets.versionSettings(bucket.id);
  const enabled = bucket.versioning === "enabled";
  return Response.json({ enabled, prune, pruneDays, useDeleteMarkers, keepDeletionRecords });
}

/** POST: members that are left out stay as they are. Existing versions stay when `enabled` is switched off. */
export async function setVersioningSettings(request: TenantRequest): Promise<void> {
  const bucket = permittedNamespace(request, "administer");
  const { enabled, ...settings } = parsed(versioningSettings, await request.body());
  await request.store.writer.change("setVersionSettings", {
    bucket: bucket.id,
    versioning: enabled === undefined ? null : enabled ? "enabled" : "off",
    settings,
  });
  request.store.maintenance.runSoon();
}

/** DELETE: back to the defaults, without versioning. */
export async function resetVersioningSettings(request: TenantRequest): Promise<void> {
  const bucket = permittedNamespace(request, "administer");
  const defaults = { versioning: "off", settings: "defaults" } as const;
  await request.store.writer.change("setVersionSettings", { bucket: bucket.id, ...defaults });
}

const NAME_RULE =
  "must have 1 to 63 letters, digits, inner hyphens and single dots, begin with no xn--, and be no IP address";

/** Settings of a namespace for which a tenant may have defaults. */
export const NAMESPACE_SETTINGS = {
  description: text(1024),
  hashScheme: oneOf("MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512", "RIPEMD-160"),
  hardQuota: quota,
  softQuota: integer(10, 95),
  servicePlan: text(64),
  optimizedFor: oneOf("CLOUD", "ALL"),
  directoryUsage: oneOfAnyCase("Balanced", "Unbalanced", "Default"),
  retentionType: oneOf("HCP", "S3"),
  multipartUploadAutoAbortDays: integer(0, 180),
  ...each(
    ["enterpriseMode", "allowErasureCoding", "replicationEnabled", "searchEnabled", "s3UnversionedOverwrite"],
    boolean,
  ),
};

const permissions = wrapped("permission", oneOf(...PERMISSIONS));

const NAME = z.string(rule(NAME_RULE)).refine((name) => isBucketName(name), NAME_RULE);

const OWNER_RULE = "must be the name of a user, or empty";

const SETTINGS = {
  ...NAMESPACE_SETTINGS,
  aclsUsage: oneOf("NOT_ENABLED", "ENABLED", "ENFORCED", "NOT_ENFORCED"),
  owner: z.string(rule(OWNER_RULE))
    .refine((name) => name === "" || existingUsername.safeParse(name).success, OWNER_RULE),
  ownerType: oneOf("LOCAL", "EXTERNAL"),
  ...each([
    "indexingEnabled",
    "indexingDefault",
    "customMetadataIndexingEnabled",
    "customMetadataValidationEnabled",
    "readFromReplica",
    "serviceRemoteSystemRequests",
    "appendEnabled",
    "atimeSynchronizationEnabled",
    "allowPermissionAndOwnershipChanges",
    "authUsersAlwaysGrantedAllPermissions",
  ], boolean),
  authMinimumPermissions: permissions,
  authAndAnonymousMinimumPermissions: permissions,
  tags,
};

const NEW = members({ ...SETTINGS, versioningSettings }, { name: NAME });

const CHANGE = members({
  name: NAME,
  ...SETTINGS,
  versioningSettings: z.never("is changed at /versioningSettings of the namespace"),
});

/** Set when a namespace is created: a later change may only repeat them. */
const IMMUTABLE = ["hashScheme", "directoryUsage"] as const;

/** Members that are fixed, and so shown only in the verbose form. */
const FIXED = ["name", "id", "creationTime", "fullyQualifiedName", "nameIDNA", "hashScheme", "dpl", "isDplDynamic"];

/** GET /tenants/{tenant}/namespaces: all with the right to read, else one's own. */
export function listNamespaces({ store, caller, query, tenant }: TenantRequest): Response {
  if (!has(caller, "read") && !managesNamespaces(caller)) throw forbidden();
  const verbose = isVerbose(query);
  const response = (buckets: readonly Bucket[]) =>
    listResponse(
      "name",
      buckets.map((bucket) => verbose ? fullRecord(bucket, tenant, store) : { name: bucket.name }),
      verbose,
    );
  const page = has(caller, "read") ? pageByName(query, "name") : null;
  if (page) return response(store.buckets.page(tenant.id, page));
  const all = store.buckets.ofTenant(tenant.id);
  const visible = has(caller, "read") ? all : all.filter((bucket) => bucket.owner === caller.user.id);
  const records = visible.map((bucket) => ({ ...bucket.record, name: bucket.name, bucket }));
  return response(selected(records, query, "name").map(({ bucket }) => bucket));
}

/** PUT /tenants/{tenant}/namespaces: without a named owner the caller owns it. */
export async function createNamespace({ store, caller, body, tenant }: TenantRequest): Promise<void> {
  const isTenantUser = caller.tenant !== null;
  if (!has(caller, "administer") && !(isTenantUser && managesNamespaces(caller))) throw forbidden();
  const { name, owner: ownerName, versioningSettings, ...settings } = parsed(NEW, await body());
  requireLocalOwner(settings.ownerType);
  const { record, ...versions } = newNamespace(store.documents, tenant.id, settings, versioningSettings);
  const owner = ownerName === undefined ? null : namedOwner(store, tenant, ownerName);
  await store.writer.change("createBucket", {
    tenant: tenant.id,
    name,
    guid: randomUUID(),
    owner: owner ?? (isTenantUser ? caller.user.id : null),
    ownerPermissions: permissionMask(OWNER_PERMISSIONS),
    ...versions,
    record: JSON.stringify(record),
    // Namespaces that an administrator creates without naming an owner do not count against the limit of an owner.
    isLimited: owner !== null || !has(caller, "administer"),
    atMs: store.now(),
  });
}

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace} */
export function readNamespace(request: TenantRequest): Response {
  const record = fullRecord(readableNamespace(request), request.tenant, request.store);
  return Response.json(
    isVerbose(request.query) ? record : only(record, Object.keys(record).filter((member) => !FIXED.includes(member))),
  );
}

/** POST /tenants/{tenant}/namespaces/{namespace}: members that are left out stay as they are. */
export async function updateNamespace(request: TenantRequest): Promise<void> {
  const { store, caller, query, body, tenant } = request;
  requireRight(caller, "administer");
  const bucket = readableNamespace(request);
  const checkpoint = query.get("resetMQECheckpoint");
  if (checkpoint !== null && !/^(?:0|[0-9]{2}\/[0-9]{2}\/[0-9]{4})$/.test(checkpoint)) {
    throw invalid("resetMQECheckpoint", "must be 0 or a date as mm/dd/yyyy");
  }
  const { name: newName, owner, ...settings } = parsed(CHANGE, await body());
  requireLocalOwner(settings.ownerType);
  for (const member of IMMUTABLE) {
    if (settings[member] !== undefined && settings[member] !== bucket.record[member]) {
      throw invalid(member, "cannot be changed once the namespace is created");
    }
  }
  if (settings.enterpriseMode && bucket.record.enterpriseMode === false) {
    throw invalid("enterpriseMode", "cannot be switched on again");
  }
  if (settings.aclsUsage === "NOT_ENABLED" && bucket.record.aclsUsage !== "NOT_ENABLED") {
    throw conflicting("aclsUsage", "cannot return to NOT_ENABLED");
  }
  await store.writer.change("updateBucket", {
    bucket: bucket.id,
    ...(newName === undefined ? {} : { name: newName }),
    ...(owner === undefined ? {} : { owner: namedOwner(store, tenant, owner) }),
    ownerPermissions: permissionMask(OWNER_PERMISSIONS),
    settings,
  });
  store.maintenance.runSoon();
}

/** DELETE /tenants/{tenant}/namespaces/{namespace}: rejected while anything is in it. */
export async function deleteNamespace(request: TenantRequest): Promise<void> {
  await request.store.writer.change("deleteBucket", { bucket: permittedNamespace(request, "administer").id });
}

/** @throws {MapiError} 409 where the owner is to be an account of a directory, of which none are known here */
function requireLocalOwner(ownerType: string | undefined): void {
  if (ownerType === "EXTERNAL") throw conflicting("ownerType", "must be LOCAL: no directory is known");
}

/**
 * The user that a body names as the owner; null for the empty name.
 *
 * @throws {MapiError} 409
 */
function namedOwner(store: StoreContext, tenant: Tenant, name: string): number | null {
  if (name === "") return null;
  const user = store.accounts.user(tenant.id, name);
  if (!user) throw conflicting("owner", "must be a user of the tenant");
  return user.id;
}

function fullRecord(bucket: Bucket, tenant: Tenant, { accounts }: StoreContext): Record<string, unknown> {
  const owner = bucket.owner === null ? null : accounts.userById(bucket.owner)?.name ?? null;
  return {
    name: bucket.name,
    nameIDNA: bucket.name,
    ...bucket.record,
    ...(owner === null ? {} : { owner, ownerType: "LOCAL" }),
    dpl: "Dynamic",
    isDplDynamic: true,
    creationTime: mapiTime(bucket.createdMs),
    fullyQualifiedName: `${bucket.name}.${tenant.name}`,
    id: bucket.guid,
  };
}
