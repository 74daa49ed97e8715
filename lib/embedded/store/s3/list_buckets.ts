import { element, xmlResponse, xmlTime } from "@/lib/embedded/store/s3/xml.ts";
import { signedUser } from "@/lib/embedded/store/s3/permitted.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";

/** ListBuckets: those in which the caller has any permission. */
export const listBuckets: S3Operation = {
  name: "ListBuckets",
  method: "GET",
  level: "service",
  parameters: [],
  handle,
};

function handle({ store, caller }: S3Call): Response {
  const user = signedUser(caller);
  const entries = store.buckets.visibleTo(user.id).map((bucket) =>
    `<Bucket>${element("Name", bucket.name)}${element("CreationDate", xmlTime(bucket.createdMs))}</Bucket>`
  );
  return xmlResponse(
    "ListAllMyBucketsResult",
    `<Owner>${element("ID", user.guid)}${element("DisplayName", user.name)}</Owner><Buckets>${
      entries.join("")
    }</Buckets>`,
  );
}
