import { permittedBucket } from "./permitted.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";

/** HeadBucket, for those who may list the bucket: READ in an access list (S3 API, HeadBucket). */
export const headBucket: S3Operation = { name: "HeadBucket", method: "HEAD", level: "bucket", parameters: [], handle };

function handle(call: S3Call): Response {
  permittedBucket(call, call.bucket, "BROWSE");
  return new Response(null, { headers: { "x-amz-bucket-region": "us-east-1" } });
}
