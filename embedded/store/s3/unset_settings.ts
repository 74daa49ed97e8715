/**
 * The settings of S3 that this store does not have. Reads respond as S3 does for a setting that was never set, so that
 * tools that check first continue. Deletes are no error, and writes are 501 like everything unsupported.
 */
import { aclsUsageOf } from "@/embedded/store/access.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import { StoreError, type StoreErrorCode } from "@/embedded/store/store_error.ts";
import { findObject, versionParameter } from "./read_object.ts";
import { bucketAccess, ownBucket, permittedBucket, permittedObject, signedUser } from "./permitted.ts";
import type { S3Call, S3Operation } from "./caller.ts";
import { element, xmlResponse } from "./xml.ts";

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
  ...operations<StoreErrorCode>(
    { ...ABSENT, "object-lock": "ObjectLockConfigurationNotFoundError" },
    (call, code) => show(call, () => rejectWith(code)),
  ),
  ...operations(DEFAULTS, show),
  ...operations(ABSENT_ENTRIES, (call, root) =>
    show(call, () => {
      if (call.request.parameter("id") !== null) return rejectWith("NoSuchConfiguration");
      return xmlResponse(root, element("IsTruncated", false));
    }), ["id", "continuation-token"]),
];

export const unsetDeletes: readonly S3Operation[] = [
  ...operations(ABSENT, (call) => {
    ownBucket(call, call.bucket);
    return new Response(null, { status: 204 });
  }),
  ...operations(ABSENT_ENTRIES, (call) => {
    ownBucket(call, call.bucket);
    return rejectWith("NoSuchConfiguration");
  }, ["id"]),
];

function operations<T>(
  settings: Readonly<Record<string, T>>,
  handle: (call: S3Call, setting: T) => Response,
  parameters: readonly string[] = [],
): S3Operation[] {
  return Object.entries(settings).map(([marker, setting]) => ({
    marker,
    parameters,
    handle: (call) => handle(call, setting),
  }));
}

/** The locks of an object, for callers that may read it. */
export const unsetObjectReads: readonly S3Operation[] = ["retention", "legal-hold"].map((marker) => ({
  marker,
  parameters: ["versionId"],
  handle: (call) => {
    const access = bucketAccess(call, call.bucket);
    const version = versionParameter(call.request);
    permittedObject(access, "READ", () => findObject(call.store, access.bucket, call.key, version));
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
