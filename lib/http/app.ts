import { Hono } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { describeRequest, type RequestLog } from "./access_log.ts";
import { headerText } from "./header_values.ts";
import { HttpError, notFound } from "./errors.ts";
import { type Handler, type HttpEnv, type Middleware, RequestContext, type RequestInfo } from "./request_context.ts";
import { rawTarget } from "./raw_path.ts";
import { redactText } from "./redact.ts";
import type { HandlingRole } from "./audit_event.ts";

/** The Hono app of a server, or of a part of one. */
export type App = Hono<HttpEnv>;

interface AppOptions {
  /** Where faults are logged. */
  readonly log: RequestLog;
  /** How many proxies in front of this process are ours; none when absent. */
  readonly trustedHops?: number;
}

/**
 * Creates an app whose routes match the path as it was sent, percent-encoding and dot segments untouched. Errors and
 * unknown paths become error responses.
 *
 * Its router compiles all routes into one regular expression: the other ones of Hono split the path, and take 16 ms for
 * one of 60,000 slashes. It refuses routes that have a literal and a parameter in the same place.
 */
export function httpApp({ log, trustedHops = 0 }: AppOptions): App {
  const app: App = new Hono<HttpEnv>({
    router: new RegExpRouter(),
    getPath: (request, options) => (options?.env?.target ?? rawTarget(request.url)).path,
  });
  app.onError((error, c) => renderError(error, c.get("context"), log));
  app.notFound((c) => renderError(notFound(), c.get("context"), log));
  app.use(function requestContext(c, next) {
    const { raw } = c.req;
    c.set("context", new RequestContext(raw instanceof HeadAsGet ? raw.request : raw, c.env, trustedHops));
    return next();
  });
  return app;
}

/** Handles a request; `info` is absent where a test calls the app without a network. */
type ServeRequest = (request: Request, info?: RequestInfo) => Response | Promise<Response>;

/**
 * The function with which servers call an app. For a HEAD, Hono copies the response of the GET, which costs more than
 * routing the request. So Hono gets each HEAD as a GET, and only a response with a body is copied without it.
 */
export function serving(app: App): ServeRequest {
  return (request, info) => {
    if (request.method !== "HEAD") return app.fetch(request, info);
    const response = app.fetch(new HeadAsGet(request) as unknown as Request, info);
    return response instanceof Promise ? response.then(withoutBody) : withoutBody(response);
  };
}

function withoutBody(response: Response): Response {
  return response.body ? new Response(null, response) : response;
}

/** Presents a HEAD request to Hono as a GET. It has only the members that Hono reads. */
class HeadAsGet {
  readonly method = "GET";
  readonly request: Request;

  constructor(request: Request) {
    this.request = request;
  }

  get url(): string {
    return this.request.url;
  }
}

/** Adds a handler of all methods for the paths that a pattern of Hono matches. */
export type AddRoute = (pattern: string, handler: Handler) => void;

/** Adds routes to an app that have these middleware before them, the outermost first. */
export function routesOf(app: App, ...middleware: readonly Middleware[]): AddRoute {
  return (pattern, handler) => {
    app.use(pattern, ...middleware);
    app.all(pattern, (c) => handler(c.get("context")));
  };
}

/**
 * Middleware that says which role handles a request, and releases what the request holds when its work is done and the
 * last byte of its response is sent, or its client has disconnected. Work after a disconnect counts as well, such as
 * aborting an upload.
 */
export function handledBy(role: HandlingRole): Middleware {
  return async function handledBy(c, next) {
    const context = c.get("context");
    context.role = role;
    const { info } = context;
    // Without a connection, as for a call within this process, the request ends with its response.
    let underWay = info?.completed ? 2 : 1;
    const ended = () => {
      if (--underWay === 0) context.release();
    };
    info?.completed?.then(ended, ended);
    try {
      await next();
    } finally {
      ended();
    }
  };
}

/** Adds a handler for a path that ends in a slash and for all paths below it. */
export function addBelow(add: AddRoute, path: string, handler: Handler): void {
  add(path, handler);
  add(`${path}:rest{[^]+}`, handler);
}

const MAX_STACK = 8192;

/**
 * The one place where an error becomes a response: an {@link HttpError} shows its detail; anything else is a 500 that
 * names only the request id, with the stack logged once and without secrets.
 */
export function renderError(error: unknown, context: RequestContext, log: RequestLog): Response {
  if (error instanceof HttpError) {
    // An error without a refusal keeps the one that an inner app has set.
    if (error.refusal !== undefined) context.refusal = error.refusal;
    return errorResponse(error.status, { detail: error.detail, ...error.coded }, error.headers);
  }
  log.write({ ...describeRequest("error", context), error: stackOf(error) });
  return errorResponse(500, { detail: "Internal server error", request_id: context.requestId });
}

function errorResponse(status: number, body: unknown, extra: Readonly<Record<string, string>> = {}): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  for (const [name, value] of Object.entries(extra)) headers[name] = headerText(value);
  return new Response(JSON.stringify(body), { status, headers });
}

function stackOf(error: unknown): string {
  const text = error instanceof Error ? error.stack ?? `${error.name}: ${error.message}` : String(error);
  return redactText(text).slice(0, MAX_STACK);
}
