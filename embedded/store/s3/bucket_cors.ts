import { corsRuleElements, MAX_CORS_BYTES, parseCorsRules, readCorsRules } from "./cors_configuration.ts";
import { ownBucket, permittedBucket, signedUser } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { xmlResponse } from "./xml.ts";
import { xmlBody } from "./xml_body.ts";

/** GetBucketCors, for every user who may do anything in the bucket. Rules of its tenant do not count. */
export function getBucketCors(call: S3Call): Response {
  signedUser(call.caller);
  const bucket = permittedBucket(call, call.bucket, "any");
  const text = call.store.buckets.cors(bucket.id);
  if (text === null) throw new S3Error("NoSuchCORSConfiguration");
  return xmlResponse("CORSConfiguration", corsRuleElements(parseCorsRules(text)));
}

/** PutBucketCors, for the bucket's owner: the rules of the body replace all others. */
export async function putBucketCors(call: S3Call): Promise<Response> {
  const bucket = ownBucket(call, call.bucket);
  const rules = readCorsRules(await xmlBody(call.request, call.caller, "CORSConfiguration", MAX_CORS_BYTES));
  const text = `<CORSConfiguration>${corsRuleElements(rules)}</CORSConfiguration>`;
  // Escaped text may be longer than it was sent.
  if (new TextEncoder().encode(text).length > MAX_CORS_BYTES) throw new S3Error("MalformedXML");
  await call.store.writer.change("setBucketCors", { bucket: bucket.id, cors: text });
  return new Response(null);
}

/** DeleteBucketCors, for the bucket's owner: removing absent rules is no error. */
export async function deleteBucketCors(call: S3Call): Promise<Response> {
  await call.store.writer.change("setBucketCors", { bucket: ownBucket(call, call.bucket).id, cors: null });
  return new Response(null, { status: 204 });
}
