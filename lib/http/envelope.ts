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
 * route set its own. Answers under `/api/v1` are kept out of every cache unless the route said otherwise.
 */
export function envelope(): MiddlewareHandler<HttpEnv> {
  return async function envelope(c, next) {
    const id = requestId(c.req.header(REQUEST_ID_HEADER));
    const target = rawTarget(c.req.raw.url);
    c.set("requestId", id);
    c.set("target", target);
    await next();
    const { headers } = c.res;
    headers.set(REQUEST_ID_HEADER, id);
    for (const [name, value] of EVERY_ANSWER) if (!headers.has(name)) headers.set(name, value);
    if (target.path.startsWith("/api/v1") && !headers.has("Cache-Control")) {
      headers.set("Cache-Control", "private, no-store");
    }
  };
}
