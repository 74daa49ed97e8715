import type { CORSConfiguration } from "@aws-sdk/client-s3";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { requireXml } from "./write_xml.ts";
import { whole } from "./xml_values.ts";

/** A CORS rule, members named as in S3; null where the rule has none. */
interface CorsRule {
  ID?: string;
  AllowedHeaders: string[] | null;
  AllowedMethods: string[] | null;
  AllowedOrigins: string[] | null;
  ExposeHeaders: string[] | null;
  /** How long a browser may cache the response to a preflight, s. */
  MaxAgeSeconds: number | null;
}

/** A rule to set. */
type NewCorsRule = { readonly [Member in keyof CorsRule]?: Readonly<CorsRule[Member]> | null };

/** A bucket's CORS rules. @throws HttpError 404 where it has none, else as {@link callSdk} */
export async function getCors(s3: S3, caller: Caller, bucket: string): Promise<CorsRule[]> {
  return await callSdk(
    s3,
    caller,
    { operation: "GetBucketCors", bucket },
    ({ CORSRules = [] }) =>
      CORSRules.map((rule) => ({
        AllowedHeaders: rule.AllowedHeaders ?? null,
        AllowedMethods: rule.AllowedMethods ?? null,
        AllowedOrigins: rule.AllowedOrigins ?? null,
        ExposeHeaders: rule.ExposeHeaders ?? null,
        MaxAgeSeconds: whole(rule.MaxAgeSeconds),
        ...rule.ID === undefined ? {} : { ID: rule.ID },
      })),
  );
}

/** Replaces a bucket's CORS rules. @throws HttpError 400 naming a text with a character not allowed in XML */
export async function putCors(
  s3: S3,
  caller: Caller,
  bucket: string,
  CORSRules: readonly NewCorsRule[],
): Promise<void> {
  requireXml({ CORSRules });
  // Absent members may be null, which the SDK takes like undefined.
  const CORSConfiguration = { CORSRules } as CORSConfiguration;
  await callSdkForHeaders(s3, caller, { operation: "PutBucketCors", bucket, input: { CORSConfiguration } });
}

/**
 * Deletes a bucket's CORS rules. S3 reports success also where there are none, so the rules are looked up first: a
 * second delete is 404 (spec, Errors). For a caller who may not read them the store's response decides.
 *
 * @throws HttpError 404 where there are none
 */
export async function deleteCors(s3: S3, caller: Caller, bucket: string): Promise<void> {
  try {
    await callS3ForHeaders(s3, caller, { operation: "GetBucketCors", method: "GET", bucket, query: [["cors", ""]] });
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 403) throw error;
  }
  await callSdkForHeaders(s3, caller, { operation: "DeleteBucketCors", bucket });
}
