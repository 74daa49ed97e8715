import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { callS3ForXml } from "./read_xml.ts";
import { xmlBody, xmlElement } from "./write_xml.ts";
import { readTree } from "./xml_tree.ts";
import { count } from "./xml_values.ts";

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

const QUERY = [["cors", ""]] as const;

/** A bucket's CORS rules. @throws HttpError 404 where it has none, else as {@link callS3ForXml} */
export async function getCors(s3: S3, caller: Caller, bucket: string): Promise<CorsRule[]> {
  return await callS3ForXml(s3, caller, { method: "GET", bucket, query: QUERY }, parseCors);
}

/** Replaces a bucket's CORS rules. @throws HttpError 400 naming a text with a character not allowed in XML */
export async function putCors(s3: S3, caller: Caller, bucket: string, rules: readonly NewCorsRule[]): Promise<void> {
  const document = xmlBody("CORSConfiguration", rules.map(ruleElement).join(""));
  await callS3ForHeaders(s3, caller, { method: "PUT", bucket, query: QUERY, ...document });
}

/**
 * Deletes a bucket's CORS rules. S3 reports success also where there are none, so the rules are looked up first: a
 * second delete is 404 (spec, Errors). For a caller who may not read them the store's response decides.
 *
 * @throws HttpError 404 where there are none
 */
export async function deleteCors(s3: S3, caller: Caller, bucket: string): Promise<void> {
  try {
    await callS3ForHeaders(s3, caller, { method: "GET", bucket, query: QUERY });
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 403) throw error;
  }
  await callS3ForHeaders(s3, caller, { method: "DELETE", bucket, query: QUERY });
}

function ruleElement(rule: NewCorsRule, index: number): string {
  const field = `CORSRules.${index}`;
  const each = (name: string, member: string, texts: readonly string[] | null | undefined) =>
    (texts ?? []).map((text, at) => xmlElement(name, text, `${field}.${member}.${at}`)).join("");
  return `<CORSRule>${xmlElement("ID", rule.ID, `${field}.ID`)}` +
    each("AllowedHeader", "AllowedHeaders", rule.AllowedHeaders) +
    each("AllowedMethod", "AllowedMethods", rule.AllowedMethods) +
    each("AllowedOrigin", "AllowedOrigins", rule.AllowedOrigins) +
    each("ExposeHeader", "ExposeHeaders", rule.ExposeHeaders) +
    `${xmlElement("MaxAgeSeconds", rule.MaxAgeSeconds)}</CORSRule>`;
}

function parseCors(xml: string): CorsRule[] {
  return readTree(xml, "CORSConfiguration").all("CORSRule").map((rule) => {
    const ID = rule.text("ID");
    const each = (name: string) => {
      const texts = rule.texts(name);
      return texts.length > 0 ? texts : null;
    };
    return {
      AllowedHeaders: each("AllowedHeader"),
      AllowedMethods: each("AllowedMethod"),
      AllowedOrigins: each("AllowedOrigin"),
      ExposeHeaders: each("ExposeHeader"),
      MaxAgeSeconds: rule.read(count, "MaxAgeSeconds"),
      ...ID === null ? {} : { ID },
    };
  });
}
