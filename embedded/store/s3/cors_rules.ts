import { StoreError } from "@/embedded/store/store_error.ts";
import { childText, element, readXml, type XmlElement } from "./xml.ts";

/** Largest configuration, in bytes, and its most rules and longest rule name in characters (S3 API, PutBucketCors). */
export const MAX_CORS_BYTES = 64 * 1024;
const MAX_RULES = 100;
const MAX_ID_CHARACTERS = 255;

/** The methods that a rule may allow, in S3's spelling. */
export const CORS_METHODS: readonly string[] = ["GET", "PUT", "POST", "DELETE", "HEAD"];

/** One CORS rule. Origins and allowed headers may hold one `*`, which stands for any text. */
export interface CorsRule {
  readonly id: string | null;
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly maxAgeSeconds: number | null;
}

/**
 * The rules of a CORSConfiguration document (S3 API, PutBucketCors).
 *
 * @throws {StoreError} MalformedXML for another document, InvalidRequest for rules that S3 rejects
 */
export function readCorsRules(document: XmlElement): CorsRule[] {
  if (document.name !== "CORSConfiguration") throw malformed("The document must be a CORSConfiguration element");
  const rules = document.children;
  if (rules.length === 0) throw malformed("A CORSConfiguration must hold a CORSRule");
  if (rules.length > MAX_RULES) throw new StoreError("InvalidRequest", `There may be ${MAX_RULES} CORS rules at most`);
  return rules.map(readRule);
}

/**
 * Reads rules from text, like {@link readCorsRules}.
 *
 * @throws {StoreError} MalformedXML also for more than 64 KiB
 */
export function parseCorsRules(text: string): CorsRule[] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_CORS_BYTES) throw malformed("A CORSConfiguration may have 64 KiB at most");
  return readCorsRules(readXml(bytes));
}

/** Rules as the elements in a CORSConfiguration. */
export function corsRuleElements(rules: readonly CorsRule[]): string {
  return rules.map((rule) => {
    const content = [
      rule.id === null ? "" : element("ID", rule.id),
      ...rule.origins.map((origin) => element("AllowedOrigin", origin)),
      ...rule.methods.map((method) => element("AllowedMethod", method)),
      ...rule.allowedHeaders.map((header) => element("AllowedHeader", header)),
      ...rule.exposedHeaders.map((header) => element("ExposeHeader", header)),
      rule.maxAgeSeconds === null ? "" : element("MaxAgeSeconds", rule.maxAgeSeconds),
    ];
    return `<CORSRule>${content.join("")}</CORSRule>`;
  }).join("");
}

const CHILDREN = ["ID", "AllowedOrigin", "AllowedMethod", "AllowedHeader", "ExposeHeader", "MaxAgeSeconds"];

/** Names of header fields (RFC 9110, section 5.1). A `*` is one of their characters, and is S3's wildcard here. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function readRule(rule: XmlElement): CorsRule {
  if (rule.name !== "CORSRule") throw malformed("A CORSConfiguration may hold only CORSRule elements");
  for (const child of rule.children) {
    if (!CHILDREN.includes(child.name)) throw malformed(`A CORSRule may hold only ${CHILDREN.join(", ")}`);
    if (child.children.length > 0) throw malformed(`${child.name} must be one text`);
  }
  const origins = texts(rule, "AllowedOrigin");
  const methods = texts(rule, "AllowedMethod");
  if (origins.length === 0) throw malformed("A CORSRule must hold an AllowedOrigin");
  if (methods.length === 0) throw malformed("A CORSRule must hold an AllowedMethod");
  for (const origin of origins) {
    if (!/^[\x21-\x7e]+$/.test(origin)) throw invalid("AllowedOrigin must be printable ASCII without spaces");
    requireOneWildcard("AllowedOrigin", origin);
  }
  for (const method of methods) {
    if (!CORS_METHODS.includes(method)) throw invalid(`AllowedMethod must be one of ${CORS_METHODS.join(", ")}`);
  }
  const allowedHeaders = texts(rule, "AllowedHeader");
  for (const header of allowedHeaders) {
    if (!FIELD_NAME.test(header)) throw invalid("AllowedHeader must be the name of a header");
    requireOneWildcard("AllowedHeader", header);
  }
  const exposedHeaders = texts(rule, "ExposeHeader");
  for (const header of exposedHeaders) {
    if (!FIELD_NAME.test(header)) throw invalid("ExposeHeader must be the name of a header");
    if (header.includes("*")) throw invalid("ExposeHeader may hold no *");
  }
  return { id: readId(rule), origins, methods, allowedHeaders, exposedHeaders, maxAgeSeconds: readMaxAge(rule) };
}

function texts(rule: XmlElement, name: string): string[] {
  return rule.children.filter((child) => child.name === name).map((child) => child.text.trim());
}

function requireOneWildcard(name: string, pattern: string): void {
  if (pattern.indexOf("*") !== pattern.lastIndexOf("*")) throw invalid(`${name} may hold one * at most`);
}

function readId(rule: XmlElement): string | null {
  const id = childText(rule, "ID");
  if (id !== null && [...id].length > MAX_ID_CHARACTERS) {
    throw new StoreError("InvalidArgument", `The ID of a CORS rule may have ${MAX_ID_CHARACTERS} characters at most`);
  }
  return id;
}

function readMaxAge(rule: XmlElement): number | null {
  const text = childText(rule, "MaxAgeSeconds")?.trim() ?? null;
  if (text === null) return null;
  if (!/^[0-9]{1,10}$/.test(text) || Number(text) >= 2 ** 31) {
    throw malformed("MaxAgeSeconds must be a whole number of seconds");
  }
  return Number(text);
}

function malformed(detail: string): StoreError {
  return new StoreError("MalformedXML", detail);
}

function invalid(detail: string): StoreError {
  return new StoreError("InvalidRequest", detail);
}

/** The origin, method and headers of a browser's request; only a preflight has headers. */
interface CorsQuery {
  origin: string;
  method: string;
  headers: readonly string[];
}

/** The rule that allows a request. */
export interface CorsMatch {
  rule: CorsRule;
  /** Whether the rule's origin is `*`: then the response is for every origin, and never with credentials. */
  isForAll: boolean;
}

/** The first rule that allows the origin, the method and every header; null where none does (S3 API, CORS rules). */
export function matchingCorsRule(rules: readonly CorsRule[], query: CorsQuery): CorsMatch | null {
  for (const rule of rules) {
    const pattern = rule.origins.find((origin) => fits(origin, query.origin));
    if (pattern === undefined || !rule.methods.includes(query.method)) continue;
    const allowed = rule.allowedHeaders.map((header) => header.toLowerCase());
    if (query.headers.every((header) => allowed.some((one) => fits(one, header.toLowerCase())))) {
      return { rule, isForAll: pattern === "*" };
    }
  }
  return null;
}

/** The names in an Access-Control-Request-Headers. */
export function requestedHeaders(header: string | null): string[] {
  return (header ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** Whether a text matches a pattern, whose `*` matches any text, also none. */
function fits(pattern: string, text: string): boolean {
  const star = pattern.indexOf("*");
  if (star < 0) return pattern === text;
  return text.length >= pattern.length - 1 && text.startsWith(pattern.slice(0, star)) &&
    text.endsWith(pattern.slice(star + 1));
}
