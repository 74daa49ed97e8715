import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { type BucketList, parseBucketList } from "./list_xml.ts";
import { callS3ForXml } from "./read_xml.ts";

const DEFAULT_REGION = "us-east-1";

/** The buckets the caller may see. @throws HttpError as {@link callS3ForXml} */
export async function listBuckets(s3: S3, caller: Caller): Promise<BucketList> {
  return await callS3ForXml(s3, caller, { method: "GET", resource: "buckets" }, parseBucketList);
}

/** Creates a bucket. @throws HttpError 409 when the name is taken, 400 when it is not a bucket name */
export async function createBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  const body = s3.region === DEFAULT_REGION ? null : locationXml(s3.region);
  await callS3ForHeaders(s3, caller, { method: "PUT", bucket, body });
}

/** Resolves when the bucket exists. @throws HttpError 404, 403 */
export async function headBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  await callS3ForHeaders(s3, caller, { method: "HEAD", bucket });
}

/** Deletes an empty bucket. @throws HttpError 404, 409 when it is not empty */
export async function deleteBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  await callS3ForHeaders(s3, caller, { method: "DELETE", bucket });
}

/** The region comes from the configuration, so it may hold characters of markup. */
function locationXml(region: string): string {
  const text = region.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${text}</LocationConstraint></CreateBucketConfiguration>`;
}
