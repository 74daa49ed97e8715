import { permittedBucket, signedUser } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";

/** DeleteBucket: by its owner, when nothing is left in it. */
export const deleteBucket: S3Operation = {
  name: "DeleteBucket",
  method: "DELETE",
  level: "bucket",
  parameters: [],
  handle,
};

async function handle(call: S3Call): Promise<Response> {
  const { store, caller, bucket: name } = call;
  const bucket = permittedBucket(call, name, "any");
  if (bucket.owner !== signedUser(caller).id) throw new S3Error("AccessDenied");
  await store.writer.change("deleteBucket", { bucket: bucket.id });
  return new Response(null, { status: 204 });
}
