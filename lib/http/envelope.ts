import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "./env.ts";
import { rawTarget } from "./raw_path.ts";
import { REQUEST_ID_HEADER, requestId } from "./request_id.ts";

const EVERY_ANSWER: readonly (readonly [string, string])[] = [
  ["Content-Security-Policy", "frame-ancestors 'none'"],
  ["X-Content-Type-Options", "nosniff"],
  ["Referrer-Policy", "strict-origin-when-cross-origin"],
];

/**
 * What surrounds every request of every role: its id, its raw target, and the headers each answer carries unless the
 * route set its own. HEAD answers say the length of the body that they leave out. Answers under `/api/v1` are kept out of every cache unless the route said otherwise.
 */
export function envelope(): MiddlewareHandler<HttpEnv> {
  return async function envelope(c, next) {
    const id = requestId(c.req.header(REQUEST_ID_HEADER));
    const target = rawTarget(c.req.raw.url);
    c.set("requestId", id);
    c.set("target", target);
    await next();
    if (c.req.method === "HEAD" && !c.res.headers.has("Content-Length")) c.res = await measured(c.res);
    const { headers } = c.res;
    headers.set(REQUEST_ID_HEADER, id);
    for (const [name, value] of EVERY_ANSWER) if (!headers.has(name)) headers.set(name, value);
    if (target.path.startsWith("/api/v1") && !headers.has("Cache-Control")) {
      headers.set("Cache-Control", "private, no-store");
    }
  };
}

/**
 * An answer that says how long its body would be (RFC 9110, section 8.6): without it the server would say 0. Only pages
 * and other small answers come here; files name their length themselves.
 */
async function measured(response: Response): Promise<Response> {
  if (!response.body) return response;
  const headers = new Headers(response.headers);
  headers.set("Content-Length", String((await response.bytes()).length));
  return new Response(null, { status: response.status, headers });
}
