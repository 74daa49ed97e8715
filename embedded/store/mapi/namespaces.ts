import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import type { StoreParts } from "@/embedded/store/context/store_parts.ts";
import { isBucketName } from "@/embedded/store/names.ts";
import { newNamespace } from "@/embedded/store/namespace_record.ts";
import { OWNER_PERMISSIONS, permissionMask, PERMISSIONS } from "@/embedded/store/permissions.ts";
import {
  boolean,
  each,
  integer,
  members,
  oneOf,
  oneOfAnyCase,
  parsed,
  quota,
  rule,
  tags,
  text,
  wrapped,
} from "./body_schema.ts";
import { isVerbose, pageByName, selected } from "./list_parameters.ts";
import { demand, has, managesNamespaces } from "./mapi_caller.ts";
import { absent, conflicting, forbidden, invalid } from "./mapi_error.ts";
import { listAnswer, type MapiRequest, mapiTime, only } from "./mapi_request.ts";
import { username } from "./users.ts";
import { versioningSettings } from "./versioning_settings.ts";

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
  owner: z.string(rule(OWNER_RULE)).refine((name) => name === "" || username.safeParse(name).success, OWNER_RULE),
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

/** What is settled when a namespace is made: a change may only repeat it. */
const SETTLED = ["hashScheme", "directoryUsage"] as const;

/** Members that are fixed, and so shown only where everything is asked for. */
const FIXED = ["name", "id", "creationTime", "fullyQualifiedName", "nameIDNA", "hashScheme", "dpl", "isDplDynamic"];

/** GET /tenants/{tenant}/namespaces: all with the right to read, else one's own. */
export function listNamespaces(tenant: Tenant, { store, caller, query }: MapiRequest): Response {
  if (!has(caller, "read") && !managesNamespaces(caller)) throw forbidden();
  const answer = (buckets: readonly Bucket[]) => {
    const shown = (bucket: Bucket) => fullRecord(bucket, tenant, ownerName(store, bucket));
    return listAnswer(
      "name",
      isVerbose(query) ? buckets.map(shown) : buckets.map(({ name }) => ({ name })),
      isVerbose(query),
    );
  };
  const page = has(caller, "read") ? pageByName(query, "name") : null;
  if (page) return answer(store.buckets.page(tenant.id, page));
  const all = store.buckets.ofTenant(tenant.id);
  const seen = has(caller, "read") ? all : all.filter((bucket) => bucket.owner === caller.user.id);
  const records = seen.map((bucket) => ({ ...bucket.record, name: bucket.name, bucket }));
  return answer(selected(records, query, "name").map(({ bucket }) => bucket));
}

/** PUT /tenants/{tenant}/namespaces: who makes one without naming an owner owns it. */
export async function createNamespace(tenant: Tenant, { store, caller, body }: MapiRequest): Promise<Response> {
  const isTenantUser = caller.tenant !== null;
  if (!has(caller, "administer") && !(isTenantUser && managesNamespaces(caller))) throw forbidden();
  const { name, owner: ownerName, versioningSettings, ...settings } = parsed(NEW, await body());
  demandLocal(settings.ownerType);
  const { record, versioning, versionSettings } = newNamespace(
    store.documents,
    tenant.id,
    settings,
    versioningSettings,
  );
  const owner = ownerName === undefined ? null : namedOwner(store, tenant, ownerName);
  await store.writer.change("createBucket", {
    tenant: tenant.id,
    name,
    guid: randomUUID(),
    owner: owner ?? (isTenantUser ? caller.user.id : null),
    ownerPermissions: permissionMask(OWNER_PERMISSIONS),
    versioning,
    versionSettings,
    record: JSON.stringify(record),
    // An administrator who names no owner makes namespaces for the tenant, and only happens to own them.
    isLimited: owner !== null || !has(caller, "administer"),
    atMs: store.now(),
  });
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace} */
export function readNamespace(tenant: Tenant, name: string, { store, caller, query }: MapiRequest): Response {
  const bucket = store.buckets.bucket(tenant.id, name);
  if (bucket?.owner !== caller.user.id) demand(caller, "read");
  if (!bucket) throw absent(`namespace ${name}`);
  const record = fullRecord(bucket, tenant, ownerName(store, bucket));
  return Response.json(
    isVerbose(query) ? record : only(record, Object.keys(record).filter((member) => !FIXED.includes(member))),
  );
}

/** POST /tenants/{tenant}/namespaces/{namespace}: members that are not given stay as they are. */
export async function updateNamespace(
  tenant: Tenant,
  name: string,
  { store, caller, query, body }: MapiRequest,
): Promise<Response> {
  demand(caller, "administer");
  const bucket = store.buckets.bucket(tenant.id, name);
  if (!bucket) throw absent(`namespace ${name}`);
  const checkpoint = query.get("resetMQECheckpoint");
  if (checkpoint !== null && !/^(?:0|[0-9]{2}\/[0-9]{2}\/[0-9]{4})$/.test(checkpoint)) {
    throw invalid("resetMQECheckpoint", "must be 0 or a date as mm/dd/yyyy");
  }
  const { name: newName, owner, ...settings } = parsed(CHANGE, await body());
  demandLocal(settings.ownerType);
  for (const member of SETTLED) {
    if (settings[member] !== undefined && settings[member] !== bucket.record[member]) {
      throw invalid(member, "cannot be changed once the namespace is made");
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
  store.upkeep.soon();
  return new Response(null);
}

/** DELETE /tenants/{tenant}/namespaces/{namespace}: refused while anything is in it. */
export async function deleteNamespace(tenant: Tenant, name: string, { store, caller }: MapiRequest): Promise<Response> {
  const bucket = store.buckets.bucket(tenant.id, name);
  const isOwner = bucket?.owner === caller.user.id && managesNamespaces(caller);
  if (!isOwner) demand(caller, "administer");
  if (!bucket) throw absent(`namespace ${name}`);
  await store.writer.change("deleteBucket", { bucket: bucket.id });
  return new Response(null);
}

/** Throws 409 where the owner is to be an account of a directory, of which none are known here. */
function demandLocal(ownerType: string | undefined): void {
  if (ownerType === "EXTERNAL") throw conflicting("ownerType", "must be LOCAL: no directory is known");
}

/** The user that a body names as the owner; null for the empty name. Throws 409. */
function namedOwner(store: StoreParts, tenant: Tenant, name: string): number | null {
  if (name === "") return null;
  const user = store.accounts.user(tenant.id, name);
  if (!user) throw conflicting("owner", "must be a user of the tenant");
  return user.id;
}

function ownerName(store: StoreParts, bucket: Bucket): string | null {
  return bucket.owner === null ? null : store.accounts.userById(bucket.owner)?.name ?? null;
}

function fullRecord(bucket: Bucket, tenant: Tenant, owner: string | null): Record<string, unknown> {
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
