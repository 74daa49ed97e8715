import type { S3Call, S3Operation } from "./s3_operation.ts";
import { namedUpload } from "./upload_parameters.ts";

/** AbortMultipartUpload: discards the parts that arrived. */
export const abortMultipartUpload: S3Operation = {
  name: "AbortMultipartUpload",
  method: "DELETE",
  level: "object",
  marker: ["uploadId"],
  parameters: [],
  handle,
};

async function handle(call: S3Call): Promise<Response> {
  const { bucket, key, upload } = namedUpload(call);
  await call.store.writer.change("abortUpload", { bucket, key, upload, atMs: call.store.now() });
  return new Response(null, { status: 204 });
}
