import { permittedBucket, signedUser } from "./permitted.ts";
import type { S3Operation } from "./s3_operation.ts";
import { xmlResponse } from "./xml.ts";

/** GetBucketLocation: all buckets are where S3's default region is, whose name is left empty. */
export const getBucketLocation: S3Operation = {
  name: "GetBucketLocation",
  method: "GET",
  level: "bucket",
  marker: ["location"],
  parameters: [],
  handle: (call) => {
    signedUser(call.caller);
    permittedBucket(call, call.bucket, "any");
    return xmlResponse("LocationConstraint", "");
  },
};
