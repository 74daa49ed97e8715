import {
  type Acl,
  type AclGrant,
  aclsUsageOf,
  defaultAcl,
  type Grantee,
  type Owned,
  type Permission,
  serializeAcl,
} from "@/embedded/store/access.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { StoredObject } from "@/embedded/store/stored_objects.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import {
  aclContent,
  CANNED_GRANTS,
  type CannedAcl,
  type DisplayedGrant,
  type NamedGrant,
  type NamedGrantee,
  readAclXml,
  type StatedAcl,
  statedAcl,
} from "./acl_forms.ts";
import type { S3Call } from "./caller.ts";
import { type BucketAccess, bucketAccess, permittedBucket, permittedObject } from "./permitted.ts";
import { findObject, versionHeader, versionParameter } from "./read_object.ts";
import { smallBody, xmlBody } from "./received_body.ts";
import { keyBytes } from "./s3_request.ts";
import { xmlResponse } from "./xml.ts";

/**
 * Reads the access list of a PutBucketAcl or PutObjectAcl from its headers or its body.
 *
 * @returns a function that makes it the access list of a target, as the index stores it. It throws StoreError AccessDenied
 *   where the body names another owner than the present one
 * @throws {StoreError}
 */
async function readPutAcl(call: S3Call): Promise<(target: AclTarget) => string | null> {
  const { store, caller, request } = call;
  const stated = statedAcl(request.headers);
  if (stated) {
    if ((await smallBody(request)).length > 0) {
      throw new StoreError("InvalidRequest", "An access list comes in the headers or in the body, not in both");
    }
    return (target) => aclOf(call, stated, target);
  }
  const { owner, grants } = readAclXml(await xmlBody(request, caller, "AccessControlPolicy"));
  const stored = serializeAcl(resolveGrants(store, caller.tenant, grants));
  return (target) => {
    const present = target.owner === null ? null : store.accounts.userById(target.owner);
    if (owner !== null && owner.toLowerCase() !== present?.guid) {
      throw new StoreError("AccessDenied", "The owner cannot be changed by an access list");
    }
    return stored;
  };
}

/**
 * The response with the access list of a bucket or an object; where the namespace has none, it grants the owner full
 * control.
 */
function aclResponse(
  { store, caller }: S3Call,
  settings: Readonly<Record<string, unknown>>,
  { owner, acl }: Owned,
  headers: Record<string, string> = {},
): Response {
  const user = owner === null ? null : store.accounts.userById(owner);
  const stored = aclsUsageOf(settings) === "none" ? null : acl;
  const grants = displayedGrants(store, caller.tenant, stored ?? defaultAcl(user?.guid ?? null));
  const ownerAccount = user && { id: user.guid, displayName: user.name };
  return xmlResponse("AccessControlPolicy", aclContent(ownerAccount, grants), headers);
}

/** GetBucketAcl */
export function getBucketAcl(call: S3Call): Response {
  const bucket = permittedBucket(call, call.bucket, "READ_ACL");
  return aclResponse(call, bucket.record, bucket);
}

/** PutBucketAcl: replaces the present list. */
export async function putBucketAcl(call: S3Call): Promise<Response> {
  requireAcls(permittedBucket(call, call.bucket, "WRITE_ACL").record);
  const aclFor = await readPutAcl(call);
  // The body may have taken long to arrive, so the permission is checked again.
  const { id, owner } = permittedBucket(call, call.bucket, "WRITE_ACL");
  await call.store.writer.change("setBucketAcl", { bucket: id, acl: aclFor({ owner, bucketOwner: null }) });
  return new Response(null);
}

/** How often an object that was overwritten between its look-up and the change is looked up again. */
const ATTEMPTS = 5;

/** GetObjectAcl */
export function getObjectAcl(call: S3Call): Response {
  const access = bucketAccess(call, call.bucket);
  const object = objectFor(call, access, "READ_ACL");
  return aclResponse(call, access.bucket.record, object, versionHeader(object.version));
}

/** PutObjectAcl: replaces the present list, on the current version or the one that is named. */
export async function putObjectAcl(call: S3Call): Promise<Response> {
  const { store, key } = call;
  const before = bucketAccess(call, call.bucket);
  objectFor(call, before, "WRITE_ACL");
  requireAcls(before.bucket.record);
  const aclFor = await readPutAcl(call);
  for (let attempt = 1;; attempt++) {
    const access = bucketAccess(call, call.bucket);
    const object = objectFor(call, access, "WRITE_ACL");
    const acl = aclFor({ owner: object.owner, bucketOwner: access.bucket.owner });
    const at = { bucket: access.bucket.id, key: keyBytes(key), seq: object.seq };
    try {
      await store.writer.change("setObjectAcl", { ...at, acl });
      return new Response(null, { headers: versionHeader(object.version) });
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "NoSuchKey" || attempt === ATTEMPTS) throw error;
    }
  }
}

function objectFor(call: S3Call, access: BucketAccess, permission: Permission): StoredObject {
  const version = versionParameter(call.request);
  return permittedObject(access, permission, () => findObject(call.store, access.bucket, call.key, version));
}

/** The target of an access list: the ids of the users who own it and its bucket. */
interface AclTarget {
  readonly owner: number | null;
  /** Null for a list of the bucket itself. */
  readonly bucketOwner: number | null;
}

/**
 * The access list in the headers of a write, as the index stores it; null where there is none, or where it equals the
 * default.
 *
 * @throws {StoreError}
 */
export function requestedAcl(
  call: S3Call,
  settings: Readonly<Record<string, unknown>>,
  target: AclTarget,
): string | null {
  const stated = statedAcl(call.request.headers);
  if (!stated) return null;
  requireAcls(settings);
  return aclOf(call, stated, target);
}

/**
 * A stated access list as the index stores it; null where it equals the default.
 *
 * @throws {StoreError}
 */
function aclOf({ store, caller }: S3Call, stated: StatedAcl, target: AclTarget): string | null {
  if ("grants" in stated) return serializeAcl(resolveGrants(store, caller.tenant, stated.grants));
  const [owner, bucketOwner] = [target.owner, target.bucketOwner].map((id) =>
    id === null ? null : store.accounts.userById(id)?.guid ?? null
  );
  const further = cannedGrants(stated.canned, bucketOwner === owner ? null : bucketOwner);
  return further.length === 0 ? null : serializeAcl([...defaultAcl(owner), ...further]);
}

/** @throws {StoreError} AccessControlListNotSupported where a namespace has no access lists */
function requireAcls(settings: Readonly<Record<string, unknown>>): void {
  if (aclsUsageOf(settings) === "none") throw new StoreError("AccessControlListNotSupported");
}

function cannedGrants(canned: CannedAcl, bucketOwner: string | null): Acl {
  return CANNED_GRANTS[canned].flatMap(([to, permission]) => {
    const grantee = to !== "bucket owner" ? to : bucketOwner && { user: bucketOwner };
    return grantee ? [{ grantee, permission }] : [];
  });
}

/** S3's own groups (S3 API, access control lists). */
export const ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers";
export const AUTHENTICATED_USERS = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";

/** Prefix of the URI of a group account, before its percent-encoded name. */
export const GROUP_URI = "http://stackroom.dev/groups/";

/**
 * Grants with the GUIDs of present accounts of the tenant, as they are stored.
 *
 * @throws {StoreError} InvalidArgument
 */
function resolveGrants(store: StoreContext, tenant: number, grants: readonly NamedGrant[]): Acl {
  return grants.map(({ grantee, permission }) => ({ grantee: resolveGrantee(store, tenant, grantee), permission }));
}

/** Stored grants for display, groups first as in S3. Those to deleted accounts are left out, as they grant nothing. */
function displayedGrants(store: StoreContext, tenant: number, acl: Acl): DisplayedGrant[] {
  return acl.flatMap((grant) => shown(store, tenant, grant) ?? [])
    .sort((a, b) => Number("id" in a.grantee) - Number("id" in b.grantee));
}

function resolveGrantee({ accounts }: StoreContext, tenant: number, grantee: NamedGrantee): Grantee {
  if ("id" in grantee) {
    const user = accounts.userByGuid(tenant, grantee.id.toLowerCase());
    if (!user) throw new StoreError("InvalidArgument", "The ID of a grantee is not that of a user of the tenant");
    return { user: user.guid };
  }
  if (grantee.uri === ALL_USERS) return "everybody";
  if (grantee.uri === AUTHENTICATED_USERS) return "users";
  const name = grantee.uri.startsWith(GROUP_URI) ? percentDecoded(grantee.uri.slice(GROUP_URI.length)) : null;
  const group = name === null ? null : accounts.group(tenant, name);
  if (!group) throw new StoreError("InvalidArgument", "The URI of a grantee is not that of a group");
  return { group: group.guid };
}

function shown(
  { accounts }: StoreContext,
  tenant: number,
  { grantee, permission }: AclGrant,
): DisplayedGrant | null {
  if (grantee === "everybody") return { grantee: { uri: ALL_USERS }, permission };
  if (grantee === "users") return { grantee: { uri: AUTHENTICATED_USERS }, permission };
  if ("group" in grantee) {
    const group = accounts.groupByGuid(tenant, grantee.group);
    return group && { grantee: { uri: GROUP_URI + encodeURIComponent(group.name) }, permission };
  }
  const user = accounts.userByGuid(tenant, grantee.user);
  return user && { grantee: { id: user.guid }, permission, displayName: user.name };
}
