import { aclsUsageOf, type Owned } from "@/embedded/store/access.ts";
import { defaultAcl, serializeAcl } from "@/embedded/store/acl.ts";
import type { StoredObject } from "@/embedded/store/objects.ts";
import type { Permission } from "@/embedded/store/permissions.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { displayedGrants, resolveGrants } from "./acl_grantees.ts";
import { statedAcl } from "./acl_headers.ts";
import { aclContent, readAclXml } from "./acl_xml.ts";
import { findObject, versionHeader, versionParameter } from "./object_version.ts";
import { type BucketAccess, bucketAccess, permittedBucket, permittedObject } from "./permitted.ts";
import { aclOf, type AclTarget, requireAcls } from "./requested_acl.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { xmlResponse } from "./xml.ts";
import { smallBody, xmlBody } from "./xml_body.ts";

/**
 * Reads the access list of a PutBucketAcl or PutObjectAcl from its headers or its body.
 *
 * @returns a function that makes it the access list of a target, as the index stores it. It throws S3Error AccessDenied
 *   where the body names another owner than the present one
 * @throws {S3Error}
 */
async function readPutAcl(call: S3Call): Promise<(target: AclTarget) => string | null> {
  const { store, caller, request } = call;
  const stated = statedAcl(request.headers);
  if (stated) {
    if ((await smallBody(request)).length > 0) {
      throw new S3Error("InvalidRequest", "An access list comes in the headers or in the body, not in both");
    }
    return (target) => aclOf(call, stated, target);
  }
  const { owner, grants } = readAclXml(await xmlBody(request, caller, "AccessControlPolicy"));
  const stored = serializeAcl(resolveGrants(store, caller.tenant, grants));
  return (target) => {
    const present = target.owner === null ? null : store.accounts.userById(target.owner);
    if (owner !== null && owner.toLowerCase() !== present?.guid) {
      throw new S3Error("AccessDenied", "The owner cannot be changed by an access list");
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
    const at = { bucket: access.bucket.id, key: new TextEncoder().encode(key), seq: object.seq };
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
