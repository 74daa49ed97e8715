import { LRUCache } from "lru-cache";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Tenant } from "@/embedded/store/stored_accounts.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { ownBucket, permittedBucket, type S3Call, signedUser } from "./caller.ts";
import { xmlBody } from "./received_body.ts";
import { childText, element, readXml, type XmlElement, xmlResponse } from "./xml.ts";

/** GetBucketCors, for every user who may do anything in the bucket. Rules of its tenant do not count. */
export function getBucketCors(call: S3Call): Response {
  signedUser(call.caller);
  const bucket = permittedBucket(call, call.bucket, "any");
  const text = call.store.buckets.cors({ bucket: bucket.id });
  if (text === null) throw new StoreError("NoSuchCORSConfiguration");
  return xmlResponse("CORSConfiguration", corsRuleElements(parseCorsRules(text)));
}

/** PutBucketCors, for the bucket's owner: the rules of the body replace all others. */
export async function putBucketCors(call: S3Call): Promise<Response> {
  const bucket = ownBucket(call, call.bucket);
  const rules = readCorsRules(await xmlBody(call.request, call.caller, "CORSConfiguration", MAX_CORS_BYTES));
  const text = `<CORSConfiguration>${corsRuleElements(rules)}</CORSConfiguration>`;
  // Escaped text may be longer than it was sent.
  if (new TextEncoder().encode(text).length > MAX_CORS_BYTES) throw new StoreError("MalformedXML");
  await call.store.writer.change("setCors", { of: { bucket: bucket.id }, cors: text });
  return new Response(null);
}

/** DeleteBucketCors, for the bucket's owner: removing absent rules is no error. */
export async function deleteBucketCors(call: S3Call): Promise<Response> {
  const bucket = ownBucket(call, call.bucket).id;
  await call.store.writer.change("setCors", { of: { bucket }, cors: null });
  return new Response(null, { status: 204 });
}

/** The origins whose pages may read the responses of one tenant. */
interface CorsScope {
  store: StoreContext;
  /** Null where there is none: then only our own pages may. */
  tenant: Tenant | null;
  /** Our own pages: they may read the responses of all buckets, whatever the rules of these. */
  origins: ReadonlySet<string>;
}

/** Methods that a page of the site may use towards the store. */
const METHODS = "GET, HEAD, PUT, POST, DELETE";

/** How long a browser may cache the response to a preflight of a page of the site, in seconds. */
const MAX_AGE_SECONDS = 600;

/** Response headers that a page of the site may read. */
const EXPOSED =
  "ETag, Content-Length, Content-Range, Last-Modified, x-amz-version-id, x-amz-request-id, x-amz-delete-marker";

const VARY = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

/**
 * The headers that allow a page to read a response: for our own pages always, for others where a rule of the bucket, or
 * else of its tenant, allows their origin and method. A request without Origin gets none.
 */
export function corsHeaders(request: Request, scope: CorsScope): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null) return {};
  if (scope.origins.has(origin)) return ownHeaders(origin);
  // S3 judges a request that names the method of a preflight by that one.
  const method = request.headers.get("access-control-request-method") ?? request.method;
  const match = matchingCorsRule(rulesFor(request.url, scope), { origin, method, headers: [] });
  return match ? allowingHeaders(match, origin) : { vary: VARY };
}

/**
 * The response to a preflight (Fetch standard, CORS protocol).
 *
 * @throws {StoreError} BadRequest for an invalid preflight, and AccessForbidden, with the same message whether the bucket
 *   is absent, has no rules or has others
 */
export function preflightResponse(request: Request, scope: CorsScope): Response {
  const origin = request.headers.get("origin");
  const method = request.headers.get("access-control-request-method");
  if (origin === null) throw new StoreError("BadRequest", "A preflight needs the header Origin");
  if (method === null || !CORS_METHODS.includes(method)) {
    throw new StoreError("BadRequest", `Access-Control-Request-Method must be one of ${CORS_METHODS.join(", ")}`);
  }
  const requested = request.headers.get("access-control-request-headers");
  if (scope.origins.has(origin)) {
    const headers = new Headers({
      ...ownHeaders(origin),
      "access-control-allow-methods": METHODS,
      "access-control-max-age": String(MAX_AGE_SECONDS),
    });
    if (requested !== null) headers.set("access-control-allow-headers", requested);
    return new Response(null, { status: 204, headers });
  }
  const names = requestedHeaders(requested);
  const match = matchingCorsRule(rulesFor(request.url, scope), { origin, method, headers: names });
  if (!match) throw new StoreError("AccessForbidden", undefined, { vary: VARY });
  const headers = new Headers(allowingHeaders(match, origin));
  if (names.length > 0) headers.set("access-control-allow-headers", names.join(", ").toLowerCase());
  return new Response(null, { headers });
}

function ownHeaders(origin: string): Record<string, string> {
  return { vary: "Origin", "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED };
}

function allowingHeaders({ rule, isForAll }: CorsMatch, origin: string): Record<string, string> {
  return {
    vary: VARY,
    "access-control-allow-origin": isForAll ? "*" : origin,
    "access-control-allow-methods": rule.methods.join(", "),
    ...(isForAll ? {} : { "access-control-allow-credentials": "true" }),
    ...(rule.exposedHeaders.length > 0 ? { "access-control-expose-headers": rule.exposedHeaders.join(", ") } : {}),
    ...(rule.maxAgeSeconds === null ? {} : { "access-control-max-age": String(rule.maxAgeSeconds) }),
  };
}

/** The rules for the bucket in a URL: its own ones, else its tenant's; none for a bucket that is not there. */
function rulesFor(url: string, { store, tenant }: CorsScope): readonly CorsRule[] {
  const bucket = bucketIn(url);
  const text = tenant && bucket !== null ? store.buckets.corsInForce(tenant.id, bucket) : null;
  return text === null ? [] : cached.memo(text);
}

/** The bucket that a URL names, read as requests are; the rest of the path need not be valid, errors have headers too. */
function bucketIn(url: string): string | null {
  const path = url.slice(url.indexOf("/", url.indexOf("://") + 3) + 1).replace(/[?#].*$/s, "");
  return percentDecoded(path)?.split("/", 1)[0] || null;
}

/** How many different configurations are cached in parsed form; each has 64 KiB of text at most. */
const CACHE_LIMIT = 50;

const cached = new LRUCache<string, readonly CorsRule[]>({
  max: CACHE_LIMIT,
  memoMethod: (text) => parseCorsRules(text),
});

/** Largest configuration, in bytes, and its most rules and longest rule name in characters (S3 API, PutBucketCors). */
const MAX_CORS_BYTES = 64 * 1024;
const MAX_RULES = 100;
const MAX_ID_CHARACTERS = 255;

/** The methods that a rule may allow, in S3's spelling. */
const CORS_METHODS: readonly string[] = ["GET", "PUT", "POST", "DELETE", "HEAD"];

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
  const [allowedHeaders, exposedHeaders] = ["AllowedHeader", "ExposeHeader"].map((name) => {
    const headers = texts(rule, name);
    if (!headers.every((header) => FIELD_NAME.test(header))) throw invalid(`${name} must be the name of a header`);
    return headers;
  });
  for (const header of allowedHeaders) requireOneWildcard("AllowedHeader", header);
  if (exposedHeaders.some((header) => header.includes("*"))) throw invalid("ExposeHeader may hold no *");
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

/** The rule that allows a request. */
interface CorsMatch {
  rule: CorsRule;
  /** Whether the rule's origin is `*`: then the response is for every origin, and never with credentials. */
  isForAll: boolean;
}

/**
 * The first rule that allows the origin, the method and every header, which only a preflight has; null where none does
 * (S3 API, CORS rules).
 */
export function matchingCorsRule(
  rules: readonly CorsRule[],
  query: { readonly origin: string; readonly method: string; readonly headers: readonly string[] },
): CorsMatch | null {
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
