import { permittedBucket } from "./permitted.ts";
import { aclResponse, readPutAcl } from "./acl_subresource.ts";
import { requireAcls } from "./requested_acl.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";

const acl = { level: "bucket", marker: ["acl"], parameters: [] } as const;

/** GetBucketAcl */
export const getBucketAcl: S3Operation = {
  name: "GetBucketAcl",
  method: "GET",
  ...acl,
  handle: (call) => {
    const bucket = permittedBucket(call, call.bucket, "READ_ACL");
    return aclResponse(call, bucket.record, bucket);
  },
};

/** PutBucketAcl: replaces the present list. */
export const putBucketAcl: S3Operation = { name: "PutBucketAcl", method: "PUT", ...acl, handle: put };

async function put(call: S3Call): Promise<Response> {
  requireAcls(permittedBucket(call, call.bucket, "WRITE_ACL").record);
  const aclFor = await readPutAcl(call);
  // The body may have taken long to arrive, so the permission is checked again.
  const { id, owner } = permittedBucket(call, call.bucket, "WRITE_ACL");
  await call.store.writer.change("setBucketAcl", { bucket: id, acl: aclFor({ owner, bucketOwner: null }) });
  return new Response(null);
}
