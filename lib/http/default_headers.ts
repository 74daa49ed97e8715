import { leavesReadAhead } from "@/lib/runtime/request_body.ts";
import type { Middleware } from "./middleware.ts";
import { REQUEST_ID_HEADER } from "./request_context.ts";

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
 * Adds the headers that every response of every role carries, unless it has its own. A policy of its own that says nothing
 * of frames, such as one that came from another service, gets a second one beside it: browsers enforce both.
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

/** Where responses are private to a user: the gateway's operations, also as pages of the browser reach them. */
const PRIVATE_PATHS = ["/api/v1", "/storage/api/"];

/**
 * What every response of every role carries: the request's id, the default headers, and after a body that had the
 * runtime read far ahead that the connection ends. Responses to HEAD say how long the body is that they leave out.
 * Responses under {@link PRIVATE_PATHS} are excluded from every cache unless the route said otherwise.
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
