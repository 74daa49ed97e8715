import type { BucketLocationConstraint } from "@aws-sdk/client-s3";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { S3 } from "./client.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { MalformedXml } from "./xml.ts";
import { isoTime, owner, ownerOf } from "./xml_values.ts";

const DEFAULT_REGION = "us-east-1";

export const bucketList = z.object({
  buckets: z.array(z.object({ Name: z.string(), CreationDate: z.string().nullable() })),
  owner: owner.nullable(),
});
type BucketList = z.output<typeof bucketList>;

/** The buckets the caller may see. @throws HttpError as {@link callSdk} */
export async function listBuckets(s3: S3, caller: Caller): Promise<BucketList> {
  return await callSdk(s3, caller, { operation: "ListBuckets", resource: "buckets" }, ({ Buckets = [], Owner }) => ({
    buckets: Buckets.map(({ Name, CreationDate }) => {
      if (Name === undefined) throw new MalformedXml("a bucket without a name");
      return { Name, CreationDate: isoTime(CreationDate) };
    }),
    owner: ownerOf(Owner),
  }));
}

/** Creates a bucket. @throws HttpError 409 when the name is taken, 400 when it is not a bucket name */
export async function createBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  const LocationConstraint = s3.region as BucketLocationConstraint;
  const input = s3.region === DEFAULT_REGION ? {} : { CreateBucketConfiguration: { LocationConstraint } };
  await callSdkForHeaders(s3, caller, { operation: "CreateBucket", bucket, input });
}

/** Resolves when the bucket exists. @throws HttpError 404, 403 */
export async function headBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  await callSdkForHeaders(s3, caller, { operation: "HeadBucket", bucket });
}

/** Deletes an empty bucket. @throws HttpError 404, 409 when it is not empty */
export async function deleteBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  await callSdkForHeaders(s3, caller, { operation: "DeleteBucket", bucket });
}
