import { permittedBucket } from "@/lib/embedded/store/s3/caller.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";

/** DeleteBucket: by its owner, when nothing is left in it. */
export const deleteBucket: S3Operation = {
  name: "DeleteBucket",
  method: "DELETE",
  level: "bucket",
  parameters: [],
  handle,
};

async function handle({ store, caller: { user }, bucket: name }: S3Call): Promise<Response> {
  const bucket = permittedBucket(store.buckets, user, name, "any");
  if (bucket.owner !== user.id) throw new S3Error("AccessDenied");
  await store.writer.change("deleteBucket", { bucket: bucket.id });
  return new Response(null, { status: 204 });
}
