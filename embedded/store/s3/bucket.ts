import { ownBucket, permittedBucket, signedUser } from "./permitted.ts";
import { childWord } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { element, xmlResponse } from "./xml.ts";
import { xmlBody } from "./xml_body.ts";

/** HeadBucket, for those who may list the bucket: READ in an access list (S3 API, HeadBucket). */
export function headBucket(call: S3Call): Response {
  permittedBucket(call, call.bucket, "BROWSE");
  return new Response(null, { headers: { "x-amz-bucket-region": "us-east-1" } });
}

/** GetBucketLocation: all buckets are where S3's default region is, whose name is left empty. */
export function getBucketLocation(call: S3Call): Response {
  signedUser(call.caller);
  permittedBucket(call, call.bucket, "any");
  return xmlResponse("LocationConstraint", "");
}

/** GetBucketVersioning, for the bucket's owner: the response is empty for a bucket that never had versioning. */
export function getBucketVersioning(call: S3Call): Response {
  const { versioning } = ownBucket(call, call.bucket);
  const status = versioning === "enabled" ? "Enabled" : "Suspended";
  return xmlResponse("VersioningConfiguration", versioning === "off" ? "" : element("Status", status));
}

/** PutBucketVersioning, for the bucket's owner. */
export async function putBucketVersioning(call: S3Call): Promise<Response> {
  const bucket = ownBucket(call, call.bucket);
  const configuration = await xmlBody(call.request, call.caller, "VersioningConfiguration");
  const status = childWord(configuration, "Status");
  if (status !== "Enabled" && status !== "Suspended") {
    throw new S3Error("MalformedXML", "Status must be Enabled or Suspended");
  }
  if ((childWord(configuration, "MfaDelete") ?? "Disabled") !== "Disabled") {
    throw new S3Error("NotImplemented", "MfaDelete is not provided");
  }
  const versioning = status === "Enabled" ? "enabled" : "suspended";
  await call.store.writer.change("setVersioning", { bucket: bucket.id, versioning });
  return new Response(null);
}

/** DeleteBucket, for the bucket's owner, when nothing is left in it. */
export async function deleteBucket(call: S3Call): Promise<Response> {
  await call.store.writer.change("deleteBucket", { bucket: ownBucket(call, call.bucket).id });
  return new Response(null, { status: 204 });
}
