import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { S3 } from "./client.ts";
import { callSdk, callSdkForHeaders, PLACE, type Sdk } from "./sdk.ts";
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
  const call = { bucket, root: "CORSConfiguration", command: getCommand };
  return await callSdk(
    s3,
    caller,
    call,
    ({ CORSRules }) =>
      (CORSRules ?? []).map(({ ID, AllowedHeaders, AllowedMethods, AllowedOrigins, ExposeHeaders, MaxAgeSeconds }) => ({
        AllowedHeaders: AllowedHeaders ?? null,
        AllowedMethods: AllowedMethods ?? null,
        AllowedOrigins: AllowedOrigins ?? null,
        ExposeHeaders: ExposeHeaders ?? null,
        MaxAgeSeconds: whole(MaxAgeSeconds),
        ...ID === undefined ? {} : { ID },
      })),
  );
}

const getCommand = (sdk: Sdk) => new sdk.GetBucketCorsCommand(PLACE);

/** Replaces a bucket's CORS rules. @throws HttpError 400 naming a text with a character not allowed in XML */
export async function putCors(s3: S3, caller: Caller, bucket: string, rules: readonly NewCorsRule[]): Promise<void> {
  requireXml({ CORSRules: rules });
  const CORSRules = rules.map((rule) => ({
    ID: rule.ID ?? undefined,
    AllowedHeaders: list(rule.AllowedHeaders),
    AllowedMethods: list(rule.AllowedMethods),
    AllowedOrigins: list(rule.AllowedOrigins),
    ExposeHeaders: list(rule.ExposeHeaders),
    MaxAgeSeconds: rule.MaxAgeSeconds ?? undefined,
  }));
  await callSdkForHeaders(s3, caller, {
    bucket,
    command: (sdk) => new sdk.PutBucketCorsCommand({ ...PLACE, CORSConfiguration: { CORSRules } }),
  });
}

function list(texts: readonly string[] | null | undefined): string[] | undefined {
  return texts ? [...texts] : undefined;
}

/**
 * Deletes a bucket's CORS rules. S3 reports success also where there are none, so the rules are looked up first: a
 * second delete is 404 (spec, Errors). For a caller who may not read them the store's response decides.
 *
 * @throws HttpError 404 where there are none
 */
export async function deleteCors(s3: S3, caller: Caller, bucket: string): Promise<void> {
  try {
    await callSdkForHeaders(s3, caller, { bucket, command: getCommand });
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 403) throw error;
  }
  await callSdkForHeaders(s3, caller, { bucket, command: (sdk) => new sdk.DeleteBucketCorsCommand(PLACE) });
}
