/** Methods that a page of the site may use towards the store. */
const METHODS = "GET, HEAD, PUT, POST, DELETE";

/** How long a browser may keep a preflight's answer, in seconds. */
const MAX_AGE_SECONDS = 600;

/** Response headers that a page may read. */
const EXPOSED =
  "ETag, Content-Length, Content-Range, Last-Modified, x-amz-version-id, x-amz-request-id, x-amz-delete-marker";

/** The headers by which a browser lets a page of an allowed origin read an answer; none for other origins. */
export function corsHeaders(origin: string | null, allowed: ReadonlySet<string>): Record<string, string> {
  if (origin === null) return {};
  if (!allowed.has(origin)) return { vary: "Origin" };
  return { vary: "Origin", "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED };
}

/** The answer to a preflight (Fetch standard, CORS protocol): 403 for origins that are not allowed. */
export function preflightResponse(request: Headers, allowed: ReadonlySet<string>): Response {
  const origin = request.get("origin");
  if (origin === null || !allowed.has(origin)) return new Response(null, { status: 403, headers: { vary: "Origin" } });
  const headers = new Headers({
    ...corsHeaders(origin, allowed),
    "access-control-allow-methods": METHODS,
    "access-control-max-age": String(MAX_AGE_SECONDS),
  });
  const asked = request.get("access-control-request-headers");
  if (asked !== null) headers.set("access-control-allow-headers", asked);
  return new Response(null, { status: 204, headers });
}
