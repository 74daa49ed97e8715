import { LRUCache } from "lru-cache";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Tenant } from "@/embedded/store/stored_accounts.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import type { S3Call } from "./caller.ts";
import {
  CORS_METHODS,
  type CorsMatch,
  type CorsRule,
  corsRuleElements,
  matchingCorsRule,
  MAX_CORS_BYTES,
  parseCorsRules,
  readCorsRules,
  requestedHeaders,
} from "./cors_rules.ts";
import { ownBucket, permittedBucket, signedUser } from "./permitted.ts";
import { xmlBody } from "./received_body.ts";
import { xmlResponse } from "./xml.ts";

/** GetBucketCors, for every user who may do anything in the bucket. Rules of its tenant do not count. */
export function getBucketCors(call: S3Call): Response {
  signedUser(call.caller);
  const bucket = permittedBucket(call, call.bucket, "any");
  const text = call.store.buckets.cors(bucket.id);
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
