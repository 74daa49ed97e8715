import { randomUUID } from "node:crypto";
import { mayManageNamespaces } from "@/embedded/store/accounts.ts";
import { newNamespace } from "@/embedded/store/default_records.ts";
import { isBucketName } from "@/embedded/store/names.ts";
import { OWNER_PERMISSIONS, permissionMask } from "@/embedded/store/permissions.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { requestedAcl } from "./acl.ts";
import { statedAcl } from "./acl_forms.ts";
import type { S3Call } from "./caller.ts";
import { rejectHeaders } from "./object_headers.ts";
import { bucketAccess, ownBucket, permittedBucket, signedUser } from "./permitted.ts";
import { optionalXmlBody, xmlBody } from "./request_body.ts";
import { childWord, element, type XmlElement, xmlResponse } from "./xml.ts";

/** HeadBucket, for those who may list the bucket: READ in an access list (S3 API, HeadBucket). */
export function headBucket(call: S3Call): Response {
  permittedBucket(call, call.bucket, "BROWSE");
  return new Response(null, { headers: { "x-amz-bucket-region": "us-east-1" } });
}

/** GetBucketLocation: all buckets are where S3's default region is, whose name is left empty. */
export function getBucketLocation(call: S3Call): Response {
  signedUser(call.caller);
  permittedBucket(call, call.bucket, "any");
  return xmlResponse("LocationConstraint", "");
}

/** GetBucketVersioning, for the bucket's owner: the response is empty for a bucket that never had versioning. */
export function getBucketVersioning(call: S3Call): Response {
  const { versioning } = ownBucket(call, call.bucket);
  const status = versioning === "enabled" ? "Enabled" : "Suspended";
  return xmlResponse("VersioningConfiguration", versioning === "off" ? "" : element("Status", status));
}

/** PutBucketVersioning, for the bucket's owner. */
export async function putBucketVersioning(call: S3Call): Promise<Response> {
  const bucket = ownBucket(call, call.bucket);
  const configuration = await xmlBody(call.request, call.caller, "VersioningConfiguration");
  const status = childWord(configuration, "Status");
  if (status !== "Enabled" && status !== "Suspended") {
    throw new StoreError("MalformedXML", "Status must be Enabled or Suspended");
  }
  if ((childWord(configuration, "MfaDelete") ?? "Disabled") !== "Disabled") {
    throw new StoreError("NotImplemented", "MfaDelete is not provided");
  }
  const versioning = status === "Enabled" ? "enabled" : "suspended";
  await call.store.writer.change("setVersionSettings", { bucket: bucket.id, versioning, settings: {} });
  return new Response(null);
}

/** DeleteBucket, for the bucket's owner, when nothing is left in it. */
export async function deleteBucket(call: S3Call): Promise<Response> {
  await call.store.writer.change("deleteBucket", { bucket: ownBucket(call, call.bucket).id });
  return new Response(null, { status: 204 });
}

/** Shortest name of a bucket that is created through S3. */
const MIN_NAME_LENGTH = 3;

/** Would create another kind of bucket. */
const UNSUPPORTED = /^x-amz-bucket-namespace/;

/** CreateBucket: the caller becomes the owner. One's own bucket again is no error, unless a location is named. */
export async function createBucket(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name } = call;
  const user = signedUser(caller);
  if (!isBucketName(name, MIN_NAME_LENGTH)) throw new StoreError("InvalidBucketName");
  rejectHeaders(request.headers, UNSUPPORTED);
  const configuration = await optionalXmlBody(request, caller, "CreateBucketConfiguration");
  requireNothingMore(configuration);
  const created = () => new Response(null, { headers: { location: `/${name}` } });
  const { record, ...versions } = newNamespace(store.documents, user.tenant);
  const existing = store.buckets.bucket(user.tenant, name);
  const acl = requestedAcl(call, existing?.record ?? record, { owner: user.id, bucketOwner: null });
  if (existing?.owner === user.id) {
    if (configuration && childWord(configuration, "LocationConstraint")) {
      throw new StoreError("BucketAlreadyOwnedByYou");
    }
    // Creating one's own bucket again with an access list changes the list, as in S3's default region.
    if (statedAcl(call.request.headers)) {
      // The rules that close the existing bucket to S3 or to an address apply.
      bucketAccess(call, name);
      await store.writer.change("setBucketAcl", { bucket: existing.id, acl });
    }
    return created();
  }
  if (existing) throw new StoreError("NameTaken");
  if (![user, ...store.accounts.groupsOf(user.id)].some(mayManageNamespaces)) throw new StoreError("AccessDenied");
  await store.writer.change("createBucket", {
    tenant: user.tenant,
    name,
    guid: randomUUID(),
    owner: user.id,
    ownerPermissions: permissionMask(OWNER_PERMISSIONS),
    ...versions,
    record: JSON.stringify(record),
    acl,
    isLimited: true,
    atMs: store.now(),
  });
  return created();
}

/** A location may be named, as clients do; there is only one. Tags and other kinds of bucket are not supported. */
function requireNothingMore(configuration: XmlElement | null): void {
  const more = configuration?.children.find((child) => child.name !== "LocationConstraint");
  if (more) throw new StoreError("NotImplemented", `${more.name} is not provided`);
}
