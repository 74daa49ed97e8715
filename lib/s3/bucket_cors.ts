import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3, type S3 } from "./client.ts";
import { readXml } from "./read_xml.ts";
import { xmlDocument, xmlElement, xmlHeaders } from "./write_xml.ts";
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

/** A bucket's CORS rules. @throws HttpError 404 where it has none, else as {@link callS3} */
export async function getCors(s3: S3, caller: Caller, bucket: string): Promise<CorsRule[]> {
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "GET", bucket, query: QUERY, resource });
  return await readXml(response, parseCors, resource);
}

/** Replaces a bucket's CORS rules. @throws HttpError as {@link callS3}; 400 naming a text with a character not allowed in XML */
export async function putCors(s3: S3, caller: Caller, bucket: string, rules: readonly NewCorsRule[]): Promise<void> {
  const body = xmlDocument("CORSConfiguration", rules.map(ruleElement).join(""));
  const headers = xmlHeaders(body);
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "PUT", bucket, query: QUERY, headers, body, resource });
  await response.body?.cancel();
}

/**
 * Deletes a bucket's CORS rules. S3 reports success also where there are none, so the rules are looked up first: a
 * second delete is 404 (spec, Errors). For a caller who may not read them the store's response decides.
 *
 * @throws HttpError 404 where there are none
 */
export async function deleteCors(s3: S3, caller: Caller, bucket: string): Promise<void> {
  const resource = `bucket '${bucket}'`;
  try {
    const rules = await callS3(s3, caller, { method: "GET", bucket, query: QUERY, resource });
    await rules.body?.cancel();
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 403) throw error;
  }
  const response = await callS3(s3, caller, { method: "DELETE", bucket, query: QUERY, resource });
  await response.body?.cancel();
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
