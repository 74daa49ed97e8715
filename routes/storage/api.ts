import type { RequestContext } from "@/lib/http/request_context.ts";
import { requireSameOrigin } from "@/lib/auth/session_token.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import { gatewayTarget, mediaTypeOf, sandboxObject } from "@/lib/auth/storage_api_path.ts";
import { requestedLogin, type StorageDeps } from "@/lib/site/storage/logins.ts";
import { forbidden, HttpError, notFound } from "@/lib/http/errors.ts";

/** Headers that a browser may send to the gateway's operations. */
const REQUEST_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-md5",
  "content-type",
  "expires",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-event-id",
  "range",
]);
const REQUEST_PREFIX = "x-amz-";
/** Headers of a body; reads are sent without them. */
const BODY_HEADERS = ["content-length", "content-type"];
/** Headers of the connection to the gateway, and of its bearer token. */
const DROPPED_HEADERS = [
  "connection",
  "keep-alive",
  "set-cookie",
  "transfer-encoding",
  "upgrade",
  "www-authenticate",
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-expose-headers",
];
/** Types of the gateway's own responses, which are not read from the store. */
const OWN_TYPES = new Set(["application/json", "text/event-stream"]);
/** The address of a single object. */
const OBJECT = "/objects/:key";
/** Destinations that browsers may load from the gateway: data, files, pictures, sound and film; no script and no style. */
const DESTINATIONS = new Set(["audio", "document", "empty", "image", "video"]);
const READS = ["GET", "HEAD"];

/**
 * `/storage/api/…`: the gateway's operations on buckets and objects for pages of this origin. The cookie's login becomes
 * the gateway's bearer token; bodies stream both ways. A 401 does not clear the cookie, which may be that of a newer login
 * by now: the pages do.
 *
 * It throws HttpError: 404 for what is not opened, 403 for a page of another site, 401 without a login.
 */
export function storageApiProxy(deps: StorageDeps) {
  return async function storageApiProxy(context: RequestContext): Promise<Response> {
    context.operation = "storage_api";
    const { request, method } = context;
    try {
      return await opened(deps, context);
    } finally {
      if (!READS.includes(method)) cancelBody(request);
    }
  };
}

async function opened(deps: StorageDeps, context: RequestContext): Promise<Response> {
  const { request, method } = context;
  requireOwnPage(context);
  requireShownUse(context);
  const target = gatewayTarget(context.target);
  if (target === null) throw notFound();
  const query = new URLSearchParams(context.target.query);
  const login = requestedLogin(deps, request, query);
  if (login === null) throw new HttpError(401, "not logged in");
  const sent = requestHeaders(request.headers);
  if (READS.includes(method)) { for (const name of BODY_HEADERS) sent.delete(name); }
  const response = await deps.gateway.send(
    {
      method,
      target,
      headers: sent,
      body: READS.includes(method) ? null : request.body,
      known(handled) {
        context.operation = handled.operation ?? context.operation;
        context.route = handled.route;
        context.audit = handled.audit;
        context.caller = handled.caller;
        context.admitted = handled.admitted;
      },
    },
    login,
    context,
  );
  const headers = responseHeaders(response.headers);
  headers.set("Cache-Control", "private, no-store");
  if (READS.includes(method) && (context.target.path.endsWith(OBJECT) || !isOwnType(headers))) {
    sandboxObject(headers, query.get("key") ?? "");
    if (response.status < 400) headers.set("Cache-Control", "private, no-cache");
  }
  return new Response(response.body, { status: response.status, headers });
}

/**
 * The cookie is sent by pages of sibling hosts too, which are of the same site. A change must say that it comes from a
 * page of ours; browsers say so with every one. Of a read they say where it comes from unless they are old.
 */
function requireOwnPage({ request, method }: RequestContext): void {
  if (!READS.includes(method)) requireSameOrigin(request);
  const site = request.headers.get("Sec-Fetch-Site");
  if (site !== null && site !== "same-origin" && site !== "none") throw forbidden("cross-origin request refused");
}

/** The policy of our pages allows scripts of this origin, where objects lie too: none of them is served as one. */
function requireShownUse({ request }: RequestContext): void {
  const destination = request.headers.get("Sec-Fetch-Dest");
  if (destination !== null && !DESTINATIONS.has(destination)) {
    throw forbidden(`objects are not loaded as ${destination}`);
  }
}

/** The headers of a page's request that the gateway reads. */
function requestHeaders(from: Headers): Headers {
  const headers = new Headers();
  for (const [name, value] of from) {
    if (REQUEST_HEADERS.has(name) || name.startsWith(REQUEST_PREFIX)) headers.set(name, value);
  }
  return headers;
}

function responseHeaders(from: Headers): Headers {
  const headers = new Headers(from);
  for (const name of DROPPED_HEADERS) headers.delete(name);
  return headers;
}

/** Whether a response is of a type that the gateway writes itself. */
function isOwnType(headers: Headers): boolean {
  return OWN_TYPES.has(mediaTypeOf(headers.get("Content-Type")) ?? "");
}
