import { leavesReadAhead } from "@/lib/runtime/request_body.ts";
import { HttpError } from "./errors.ts";
import { type Middleware, REQUEST_ID_HEADER } from "./request_context.ts";

/** Keeps a response out of the frames of other pages (CSP Level 3, frame-ancestors). */
export const UNFRAMED_POLICY = "frame-ancestors 'none'";

/** The policy of content that is not ours to trust: a document may do nothing, and no page may frame it. */
export const SANDBOX_POLICY = `default-src 'none'; sandbox; ${UNFRAMED_POLICY}`;

const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": UNFRAMED_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "strict-origin-when-cross-origin",
};

/**
 * Adds the headers that every response of every role carries, unless the response has them. A policy without
 * frame-ancestors, such as one of another service, gets a second policy beside it: browsers enforce both.
 */
export function addDefaultHeaders(headers: Headers): void {
  for (const name in DEFAULT_HEADERS) {
    const own = headers.get(name);
    if (own === null) headers.set(name, DEFAULT_HEADERS[name]);
    else if (name === "Content-Security-Policy" && !own.includes(UNFRAMED_POLICY)) {
      headers.append(name, UNFRAMED_POLICY);
    }
  }
}

/** Paths whose responses are private to a user: the gateway's operations, and the same for pages of the browser. */
const PRIVATE_PATHS = ["/api/v1", "/storage/api/"];

/**
 * Adds the request's id and the default headers to every response of every role. Ends the connection after a body that
 * the runtime has read far ahead. Adds the Content-Length to responses to HEAD. Responses under {@link PRIVATE_PATHS} are excluded from every cache unless the route said otherwise.
 */
export const defaultHeaders: Middleware = async function defaultHeaders(c, next) {
  await next();
  const context = c.get("context");
  if (context.method === "HEAD" && c.res.body) await announceLength(c.res);
  const { headers } = c.res;
  if (leavesReadAhead(context.request)) headers.set("Connection", "close");
  headers.set(REQUEST_ID_HEADER, context.requestId);
  addDefaultHeaders(headers);
  if (!headers.has("Cache-Control") && PRIVATE_PATHS.some((path) => context.target.path.startsWith(path))) {
    headers.set("Cache-Control", "private, no-store");
  }
};

/**
 * Makes a response to HEAD say how long its body is (RFC 9110, section 8.6), which Hono then leaves out. Only pages and
 * other small responses are read for it; files name their length themselves.
 */
async function announceLength(response: Response): Promise<void> {
  const { headers } = response;
  if (headers.has("Content-Length")) await response.body?.cancel();
  else headers.set("Content-Length", String((await response.bytes()).length));
}

/** Which origins a browser may call from: any (then without credentials), or exactly these. */
export type CorsOrigins = "*" | readonly string[];

const METHODS = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
const EXPOSED =
  "ETag, X-Request-ID, Content-Length, Content-Range, Content-Disposition, Content-Encoding, Accept-Ranges, Last-Modified, Retry-After, Location, x-amz-version-id, x-amz-delete-marker, x-amz-tagging-count, x-amz-checksum-crc32, x-amz-checksum-crc32c, x-amz-checksum-crc64nvme, x-amz-checksum-sha1, x-amz-checksum-sha256, x-amz-checksum-type, X-Zip-Failed, X-Zip-Failed-Keys, X-Zip-Size";
const PREFLIGHT_SECONDS = 600;

/** CORS headers on every response of a route, errors included, and the response to preflights (Fetch standard, CORS protocol). */
export function cors(origins: CorsOrigins): Middleware {
  const listed = origins === "*" ? null : new Set(origins);
  return function cors(c, next) {
    const context = c.get("context");
    const origin = context.header("Origin");
    const allowed = origin !== null && (listed === null || listed.has(origin));
    if (allowed && context.method === "OPTIONS" && context.header("Access-Control-Request-Method") !== null) {
      return Promise.resolve(preflight(origin, listed !== null, context.header("Access-Control-Request-Headers")));
    }
    // A response to a caller that is no page stays as it is.
    if (!allowed && listed === null) return next();
    return next().then(() => {
      const { headers } = c.res;
      if (listed !== null) headers.append("Vary", "Origin");
      if (allowed) {
        allowOrigin(headers, origin, listed !== null);
        headers.set("Access-Control-Expose-Headers", EXPOSED);
      }
    });
  };
}

function preflight(origin: string, credentials: boolean, requestedHeaders: string | null): Response {
  const headers = new Headers({
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
    "Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
  });
  if (requestedHeaders) headers.set("Access-Control-Allow-Headers", requestedHeaders);
  allowOrigin(headers, origin, credentials);
  return new Response(null, { status: 204, headers });
}

function allowOrigin(headers: Headers, origin: string, credentials: boolean): void {
  headers.set("Access-Control-Allow-Origin", credentials ? origin : "*");
  if (credentials) headers.set("Access-Control-Allow-Credentials", "true");
}

/**
 * Refuses requests under a Host name we do not go by (421, RFC 9110 §15.5.20), which keeps a page that rebinds its own
 * name to this machine away from a store with well-known passwords.
 *
 * @param names host names without ports, IPv6 addresses in brackets
 */
export function hostCheck(names: readonly string[]): Middleware {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const goesBy = (origin: string, header: string | null) => {
    // A target in absolute form names a host as well (RFC 9112, section 3.2.2), which our own addresses would repeat.
    const host = URL.parse(origin)?.host;
    return host !== undefined && known.has(hostName(header ?? host)) && known.has(hostName(host));
  };
  // Nearly all requests name what the last one named.
  let last: { readonly origin: string; readonly header: string | null } | null = null;
  return function hostCheck(c, next) {
    const { url, headers } = c.get("context").request;
    const origin = url.slice(0, pathStart(url));
    const header = headers.get("Host");
    if (last?.origin !== origin || last.header !== header) {
      if (!goesBy(origin, header)) throw new HttpError(421, "Misdirected Request", { refusal: "host" });
      last = { origin, header };
    }
    return next();
  };
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/** The index of the path, the query or the end of a URL. */
function pathStart(url: string): number {
  const authority = url.indexOf("://") + 3;
  for (let at = authority; at < url.length; at++) if ("/?#\\".includes(url[at])) return at;
  return url.length;
}

/** Result files and errors about them: only the browser caches them, and it revalidates each time. */
export const UNCACHED = { "Cache-Control": "private, no-cache" } as const;
/** Responses about a session: no cache stores them. */
export const UNSTORED = { "Cache-Control": "private, no-store" } as const;
