import type { Middleware } from "./middleware.ts";

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
