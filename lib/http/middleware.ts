import type { MiddlewareHandler } from "hono";
import type { RequestContext, RequestInfo } from "./request_context.ts";

/** What a Hono context of ours holds: what the server says of the connection, and the context of the request. */
export interface HttpEnv {
  readonly Bindings: RequestInfo;
  readonly Variables: { readonly context: RequestContext };
}

/**
 * Middleware of an app. It sees responses only: errors of what comes after it are rendered before `next()` returns.
 * Headers are set on `c.res.headers`, since `c.header()` behind `next()` copies the response.
 */
export type Middleware = MiddlewareHandler<HttpEnv>;

/** Answers a request, or throws what becomes an error response. */
export type Handler = (context: RequestContext) => Response | Promise<Response>;
