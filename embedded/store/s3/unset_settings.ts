/**
 * The settings of S3 that this store does not have. Reads respond as S3 does for a setting that was never set, so that
 * tools that check first continue. Deletes are no error, and writes are 501 like everything unsupported.
 */
import { aclsUsageOf } from "@/embedded/store/access.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import { findObject, versionParameter } from "./object_version.ts";
import { bucketAccess, ownBucket, permittedBucket, permittedObject, signedUser } from "./permitted.ts";
import { type S3Code, S3Error } from "./s3_error.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { element, xmlResponse } from "./xml.ts";

/** Settings that a bucket has one of, by their query parameters, with the error of S3 for a bucket without it. */
const ABSENT: Readonly<Record<string, S3Code>> = {
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
  ...Object.entries({ ...ABSENT, "object-lock": "ObjectLockConfigurationNotFoundError" } as const).map(
    ([marker, code]) => ({ marker, handle: (call: S3Call) => show(call, () => rejectWith(code)) }),
  ),
  ...Object.entries(DEFAULTS).map(([marker, response]) => ({
    marker,
    handle: (call: S3Call) => show(call, response),
  })),
  ...Object.entries(ABSENT_ENTRIES).map(([marker, root]) => ({
    marker,
    parameters: ["id", "continuation-token"],
    handle: (call: S3Call) =>
      show(
        call,
        () =>
          call.request.parameter("id") === null
            ? xmlResponse(root, element("IsTruncated", false))
            : rejectWith("NoSuchConfiguration"),
      ),
  })),
];

export const unsetDeletes: readonly S3Operation[] = [
  ...Object.keys(ABSENT).map((marker) => ({
    marker,
    handle: (call: S3Call) => {
      ownBucket(call, call.bucket);
      return new Response(null, { status: 204 });
    },
  })),
  ...Object.keys(ABSENT_ENTRIES).map((marker) => ({
    marker,
    parameters: ["id"],
    handle: (call: S3Call) => {
      ownBucket(call, call.bucket);
      return rejectWith("NoSuchConfiguration");
    },
  })),
];

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

/** As with CORS rules, every user who may do anything in the bucket reads its settings. */
function show(call: S3Call, response: (bucket: Bucket) => Response): Response {
  signedUser(call.caller);
  return response(permittedBucket(call, call.bucket, "any"));
}

function rejectWith(code: S3Code): never {
  throw new S3Error(code);
}

/** Whether the bucket's access list grants anything to all users, or to all authenticated users. */
function isPublic({ acl, record }: Bucket): boolean {
  return aclsUsageOf(record) === "enforced" &&
    (acl ?? []).some(({ grantee }) => grantee === "everybody" || grantee === "users");
}
