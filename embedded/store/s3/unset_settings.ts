import { aclsUsageOf } from "@/embedded/store/access.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import { findObject, versionParameter } from "./object_version.ts";
import { bucketAccess, ownBucket, permittedBucket, permittedObject, signedUser } from "./permitted.ts";
import { type S3Code, S3Error } from "./s3_error.ts";
import type { S3Operation } from "./s3_operation.ts";
import { element, xmlResponse } from "./xml.ts";

/**
 * The settings of S3 that this store does not have. Reads respond as S3 does for a setting that was never set, so that
 * tools that check first continue. Deletes are no error, and writes are 501 like everything unsupported.
 */
export const unsetSettings: readonly S3Operation[] = [
  ...absent("Lifecycle", "lifecycle", "NoSuchLifecycleConfiguration"),
  ...absent("Encryption", "encryption", "ServerSideEncryptionConfigurationNotFoundError"),
  ...absent("Policy", "policy", "NoSuchBucketPolicy"),
  ...absent("Tagging", "tagging", "NoSuchTagSet"),
  ...absent("Website", "website", "NoSuchWebsiteConfiguration"),
  ...absent("Replication", "replication", "ReplicationConfigurationNotFoundError"),
  ...absent("PublicAccessBlock", "publicAccessBlock", "NoSuchPublicAccessBlockConfiguration"),
  ...absent("OwnershipControls", "ownershipControls", "OwnershipControlsNotFoundError"),
  reads("GetObjectLockConfiguration", "object-lock", () => {
    throw new S3Error("ObjectLockConfigurationNotFoundError");
  }),
  reads(
    "GetBucketPolicyStatus",
    "policyStatus",
    (bucket) => xmlResponse("PolicyStatus", element("IsPublic", isPublic(bucket))),
  ),
  reads("GetBucketLogging", "logging", () => xmlResponse("BucketLoggingStatus", "")),
  reads("GetBucketNotificationConfiguration", "notification", () => xmlResponse("NotificationConfiguration", "")),
  reads("GetBucketAccelerateConfiguration", "accelerate", () => xmlResponse("AccelerateConfiguration", "")),
  reads(
    "GetBucketRequestPayment",
    "requestPayment",
    () => xmlResponse("RequestPaymentConfiguration", element("Payer", "BucketOwner")),
  ),
  ...absentEntry("Analytics", "analytics", "ListBucketAnalyticsConfigurationResult"),
  ...absentEntry("IntelligentTiering", "intelligent-tiering", "ListBucketIntelligentTieringConfigurationsOutput"),
  ...absentEntry("Inventory", "inventory", "ListInventoryConfigurationsResult"),
  ...absentEntry("Metrics", "metrics", "ListMetricsConfigurationsResult"),
  ...["retention", "legal-hold"].map(lockOf),
];

/** A setting that a bucket has one of. */
function absent(name: string, marker: string, code: S3Code): S3Operation[] {
  const read = reads(`GetBucket${name}`, marker, () => {
    throw new S3Error(code);
  });
  return [read, deletes(`DeleteBucket${name}`, marker, [])];
}

/** A setting that a bucket may have several of, each with an `id`. */
function absentEntry(name: string, marker: string, root: string): S3Operation[] {
  const read = reads(`ListBucket${name}Configurations`, marker, (_, id) => {
    if (id !== null) throw new S3Error("NoSuchConfiguration");
    return xmlResponse(root, element("IsTruncated", false));
  }, ["id", "continuation-token"]);
  return [read, deletes(`DeleteBucket${name}Configuration`, marker, ["id"])];
}

/** As with CORS rules, every user who may do anything in the bucket reads its settings. */
function reads(
  name: string,
  marker: string,
  show: (bucket: Bucket, id: string | null) => Response,
  parameters: readonly string[] = [],
): S3Operation {
  return {
    name,
    method: "GET",
    level: "bucket",
    marker: [marker],
    parameters,
    handle: (call) => {
      signedUser(call.caller);
      return show(permittedBucket(call, call.bucket, "any"), call.request.parameter("id"));
    },
  };
}

function deletes(name: string, marker: string, parameters: readonly string[]): S3Operation {
  return {
    name,
    method: "DELETE",
    level: "bucket",
    marker: [marker],
    parameters,
    handle: (call) => {
      ownBucket(call, call.bucket);
      if (parameters.includes("id")) throw new S3Error("NoSuchConfiguration");
      return new Response(null, { status: 204 });
    },
  };
}

/** The locks of an object, for callers that may read it. */
function lockOf(marker: string): S3Operation {
  return {
    name: marker === "retention" ? "GetObjectRetention" : "GetObjectLegalHold",
    method: "GET",
    level: "object",
    marker: [marker],
    parameters: ["versionId"],
    handle: (call) => {
      const access = bucketAccess(call, call.bucket);
      const version = versionParameter(call.request);
      permittedObject(access, "READ", () => findObject(call.store, access.bucket, call.key, version));
      throw new S3Error("NoSuchObjectLockConfiguration");
    },
  };
}

/** Whether the bucket's access list grants anything to all users, or to all authenticated users. */
function isPublic({ acl, record }: Bucket): boolean {
  return aclsUsageOf(record) === "enforced" &&
    (acl ?? []).some(({ grantee }) => grantee === "everybody" || grantee === "users");
}
