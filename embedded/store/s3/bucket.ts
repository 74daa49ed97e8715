import { randomUUID } from "node:crypto";
import { aclsUsageOf, OWNER_PERMISSIONS, permissionMask } from "@/embedded/store/access.ts";
import { newNamespace } from "@/embedded/store/documents.ts";
import { isBucketName } from "@/embedded/store/names.ts";
import { StoreError, type StoreErrorCode } from "@/embedded/store/store_error.ts";
import { mayManageNamespaces } from "@/embedded/store/stored_accounts.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import { requestedAcl, statedAcl } from "./access_lists.ts";
import { bucketAccess, ownBucket, permittedBucket, type S3Call, type S3Operation, signedUser } from "./caller.ts";
import { permittedVersion } from "./read_object.ts";
import { optionalXmlBody, xmlBody } from "./received_body.ts";
import { rejectHeaders } from "./request_headers.ts";
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

// The settings of S3 that this store does not have. Reads respond as S3 does for a setting that was never set, so that
// tools that check first continue. Deletes are no error, and writes are 501 like everything unsupported.

/** Settings that a bucket has one of, by their query parameters, with the error of S3 for a bucket without it. */
const ABSENT: Readonly<Record<string, StoreErrorCode>> = {
  lifecycle: "NoSuchLifecycleConfiguration",
  encryption: "ServerSideEncryptionConfigurationNotFoundError",
  policy: "NoSuchBucketPolicy",
  tagging: "NoSuchTagSet",
  website: "NoSuchWebsiteConfiguration",
  replication: "ReplicationConfigurationNotFoundError",
  publicAccessBlock: "NoSuchPublicAccessBlockConfiguration",
  ownershipControls: "OwnershipControlsNotFoundError",
};

/** Settings that a bucket may have several of, each with an `id`, with the root elements of their lists. */
const ABSENT_ENTRIES: Readonly<Record<string, string>> = {
  analytics: "ListBucketAnalyticsConfigurationResult",
  "intelligent-tiering": "ListBucketIntelligentTieringConfigurationsOutput",
  inventory: "ListInventoryConfigurationsResult",
  metrics: "ListMetricsConfigurationsResult",
};

/** Settings that every bucket has, unless they are changed. */
const DEFAULTS: Readonly<Record<string, (bucket: Bucket) => Response>> = {
  policyStatus: (bucket) => xmlResponse("PolicyStatus", element("IsPublic", isPublic(bucket))),
  logging: () => xmlResponse("BucketLoggingStatus", ""),
  notification: () => xmlResponse("NotificationConfiguration", ""),
  accelerate: () => xmlResponse("AccelerateConfiguration", ""),
  requestPayment: () => xmlResponse("RequestPaymentConfiguration", element("Payer", "BucketOwner")),
};

export const unsetReads: readonly S3Operation[] = [
  ...Object.entries({ ...ABSENT, "object-lock": "ObjectLockConfigurationNotFoundError" as const }).map(
    ([marker, code]) => ({ marker, handle: (call: S3Call) => show(call, () => rejectWith(code)) }),
  ),
  ...Object.entries(DEFAULTS).map(([marker, response]) => ({ marker, handle: (call: S3Call) => show(call, response) })),
  ...Object.entries(ABSENT_ENTRIES).map(([marker, root]) => ({
    marker,
    parameters: ["id", "continuation-token"],
    handle: (call: S3Call) =>
      show(call, () => {
        if (call.request.parameter("id") !== null) return rejectWith("NoSuchConfiguration");
        return xmlResponse(root, element("IsTruncated", false));
      }),
  })),
];

export const unsetDeletes: readonly S3Operation[] = [...Object.keys(ABSENT), ...Object.keys(ABSENT_ENTRIES)].map(
  (marker) => ({
    marker,
    parameters: marker in ABSENT ? [] : ["id"],
    handle: (call) => {
      ownBucket(call, call.bucket);
      return marker in ABSENT ? new Response(null, { status: 204 }) : rejectWith("NoSuchConfiguration");
    },
  }),
);

/** The locks of an object, for callers that may read it. */
export const unsetObjectReads: readonly S3Operation[] = ["retention", "legal-hold"].map((marker) => ({
  marker,
  parameters: ["versionId"],
  handle: (call) => {
    permittedVersion(call, "READ", bucketAccess(call, call.bucket));
    return rejectWith("NoSuchObjectLockConfiguration");
  },
}));

/** Every user with any right in the bucket may read its settings, like its CORS rules. */
function show(call: S3Call, response: (bucket: Bucket) => Response): Response {
  signedUser(call.caller);
  return response(permittedBucket(call, call.bucket, "any"));
}

function rejectWith(code: StoreErrorCode): never {
  throw new StoreError(code);
}

/** Whether the bucket's access list grants anything to all users, or to all authenticated users. */
function isPublic({ acl, record }: Bucket): boolean {
  return aclsUsageOf(record) === "enforced" &&
    (acl ?? []).some(({ grantee }) => grantee === "everybody" || grantee === "users");
}
