import { permittedBucket } from "@/lib/embedded/store/s3/caller.ts";
import type { S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import { xmlResponse } from "@/lib/embedded/store/s3/xml.ts";

/** GetBucketLocation: all buckets are where S3's default region is, whose name is left empty. */
export const getBucketLocation: S3Operation = {
  name: "GetBucketLocation",
  method: "GET",
  level: "bucket",
  marker: ["location"],
  parameters: [],
  handle: ({ store, caller: { user }, bucket }) => {
    permittedBucket(store.buckets, user, bucket, "any");
    return xmlResponse("LocationConstraint", "");
  },
};
