import { Hono } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { leavesReadAhead } from "@/lib/runtime/http.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import type { HandlingRole } from "./audit_event.ts";
import { badRequest, HttpError, methodNotAllowed, notFound } from "./errors.ts";
import { headerText } from "./header_values.ts";
import type { Operation } from "./operation.ts";
import {
  addDefaultHeaders,
  type Handler,
  type HttpEnv,
  type Middleware,
  rawTarget,
  redactPath,
  redactQuery,
  redactText,
  REQUEST_ID_HEADER,
  RequestContext,
  type RequestInfo,
} from "./request_context.ts";

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

const KEY = "{key}";

/**
 * Adds the handlers of operations, one for each path template: a method that a path does not know is a 405,
 * and a trailing slash on a known path a 307 to the path without it.
 *
 * Templates that share the part in front of `{key}` become one handler, which matches the rest as {@link restMatcher} says.
 * An empty key there is a 404 where keys are written, since a redirect would send the write to another resource.
 */
export function mount(add: AddRoute, operations: readonly Operation[]): void {
  const prefixes = [...new Set(operations.filter((op) => op.path.includes(KEY)).map((op) => op.path.split(KEY)[0]))];
  const isOfKeys = ({ path }: Operation) => prefixes.some((prefix) => path.startsWith(prefix));
  for (const prefix of prefixes) {
    const group = operations.filter(({ path }) => path.startsWith(prefix));
    const hasPathWithoutSlash = operations.some(({ path }) => path + "/" === prefix);
    const onlyReads = group.every(({ method }) => method === "GET" || method === "HEAD");
    const emptyKey = hasPathWithoutSlash && onlyReads ? withoutSlash : noEmptyKey;
    addBelow(add, routePattern(prefix), keyDispatcher(prefix, group, emptyKey));
  }
  const byPath = Map.groupBy(operations.filter((operation) => !isOfKeys(operation)), ({ path }) => path);
  const handlers = new Map([...byPath].map(([path, group]) => [path, plainDispatcher(path, group)]));
  for (const [path, handler] of withLiteralsInParameters(handlers)) {
    add(routePattern(path), handler);
    if (path !== "/" && !prefixes.includes(path + "/")) add(routePattern(path + "/"), withoutSlash);
  }
}

/** A path template as the router writes it. */
function routePattern(template: string): string {
  return template.replace(/\{(\w+)\}/g, ":$1");
}

/**
 * The router takes no literal beside a parameter in the same segment. So the handler of a template that ends in a
 * parameter calls those of the templates that have a literal instead. A percent-encoded literal is not found, as in other
 * segments.
 */
function withLiteralsInParameters(handlers: ReadonlyMap<string, Handler>): Map<string, Handler> {
  const all = new Map(handlers);
  for (const [template, handler] of handlers) {
    const [parent, last] = splitLast(template);
    if (!isParameter(last)) continue;
    const literals = new Map<string, Handler>();
    for (const [other, handler] of handlers) {
      const [otherParent, literal] = splitLast(other);
      if (otherParent !== parent || isParameter(literal)) continue;
      literals.set(literal, handler);
      all.delete(other);
    }
    if (literals.size > 0) {
      all.set(template, function literalOrParameter(context) {
        const raw = splitLast(context.target.path)[1];
        const literal = literals.get(raw);
        if (!literal && literals.has(percentDecoded(raw) ?? "")) throw notFound();
        return (literal ?? handler)(context);
      });
    }
  }
  return all;
}

/** A path without its last segment, and that segment. */
function splitLast(path: string): readonly [parent: string, last: string] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, slash), path.slice(slash + 1)];
}

function plainDispatcher(template: string, operations: readonly Operation[]): Handler {
  const byMethod = new Map<string, Operation>(operations.map((operation) => [operation.method, operation]));
  const parameters = segmentParameters(template);
  return function dispatch(context) {
    const operation = byMethod.get(context.method);
    if (!operation) throw methodNotAllowed(byMethod.keys());
    return operation.handle(context, () => parameters(context.target.path));
  };
}

function keyDispatcher(prefix: string, operations: readonly Operation[], emptyKey: Handler): Handler {
  const parametersBefore = segmentParameters(prefix);
  const slashes = prefix.split("/").length - 1;
  const matchers = operations.map((operation) => ({
    operation,
    match: restMatcher(operation.path.slice(prefix.length)),
  }));
  matchers.sort((a, b) => b.match.specificity - a.match.specificity);
  const plainKeys = matchers.filter(({ match }) => match.specificity === 0);
  return function dispatch(context) {
    const { target } = context;
    const raw = afterSegments(target.path, slashes);
    if (raw === "") return emptyKey(context);
    const keyOnly = readsAsObject(target.query);
    const rest = percentDecoded(raw);
    const possible = keyOnly ? plainKeys : matchers;
    for (const { operation, match } of possible) {
      if (operation.method !== context.method) continue;
      const parameters = match.segments(raw) ?? (rest === null ? null : match.rest(rest));
      if (parameters) return operation.handle(context, () => Object.assign(parameters, parametersBefore(target.path)));
    }
    if (rest === null) return refuseKey(context, raw, operations);
    const others = possible.filter(({ match }) => match.rest(rest) !== null);
    throw others.length > 0 ? methodNotAllowed(new Set(others.map(({ operation }) => operation.method))) : notFound();
  };
}

/** `?as=object` reads the whole rest of a key route as a key, also where a word in it is reserved. */
function readsAsObject(query: string): boolean {
  return query.includes("as=") && new URLSearchParams(query).getAll("as").at(-1) === "object";
}

/** A malformed key is refused like every bad parameter: once the caller is known. */
function refuseKey(context: RequestContext, raw: string, operations: readonly Operation[]): Promise<Response> {
  const operation = operations.find(({ method }) => method === context.method);
  if (!operation) throw methodNotAllowed(new Set(operations.map(({ method }) => method)));
  return operation.handle(context, () => ({ key: decodedOnce("key", raw) }));
}

type Parameters = Record<string, string>;

/** Matches the decoded rest of a key route. */
interface RestMatcher {
  /** Literals come before suffixes, and the plain key, 0, last. */
  readonly specificity: number;
  /** The parameters, or null when the rest does not match. */
  readonly rest: (rest: string) => Parameters | null;
  /**
   * The same for the raw rest of a template with segments of parameters: an encoded slash does not end its segment. A
   * segment that cannot be decoded stays as it is, which is the name of nothing. Always null for other templates.
   */
  readonly segments: (raw: string) => Parameters | null;
}

/**
 * How the decoded rest of a key route is matched against a template: `{key}` is any text, `{key}/copy` any text before
 * that suffix, `delete` itself, `download/{task_id}` a literal and one segment.
 */
function restMatcher(template: string): RestMatcher {
  if (template.startsWith(KEY)) {
    const suffix = template.slice(KEY.length);
    return {
      specificity: suffix.length,
      rest: (rest) =>
        rest.length > suffix.length && rest.endsWith(suffix)
          ? { key: rest.slice(0, rest.length - suffix.length) }
          : null,
      segments: () => null,
    };
  }
  const names = template.split("/");
  const specificity = 1000 + template.length;
  if (!names.some(isParameter)) {
    return { specificity, rest: (rest) => rest === template ? {} : null, segments: () => null };
  }
  const literal = template.slice(0, template.indexOf("{"));
  return {
    specificity,
    rest: (rest) => matchedSegments(names, rest.split("/")),
    segments: (raw) =>
      raw.startsWith(literal)
        ? matchedSegments(names, raw.split("/").map((segment) => percentDecoded(segment) ?? segment))
        : null,
  };
}

function matchedSegments(names: readonly string[], values: readonly string[]): Parameters | null {
  if (names.length !== values.length) return null;
  const parameters: Parameters = {};
  for (const [index, name] of names.entries()) {
    if (isParameter(name)) {
      if (values[index] === "") return null;
      parameters[name.slice(1, -1)] = values[index];
    } else if (name !== values[index]) return null;
  }
  return parameters;
}

/** Reads the parameters of a template in a raw path. */
function segmentParameters(template: string): (rawPath: string) => Parameters {
  const names = template.split("/").map((name) => isParameter(name) ? name.slice(1, -1) : null);
  const last = names.findLastIndex((name) => name !== null);
  return function segmentParameters(rawPath) {
    const parameters: Parameters = {};
    for (let index = 0, start = 0; index <= last; index++) {
      const slash = rawPath.indexOf("/", start);
      const end = slash < 0 ? rawPath.length : slash;
      const name = names[index];
      if (name !== null) parameters[name] = decodeParameter(name, rawPath.slice(start, end));
      start = end + 1;
    }
    return parameters;
  };
}

/**
 * A path parameter, percent-decoded exactly once. A key may contain any character: the store decides which it accepts.
 *
 * @throws HttpError 400 naming the parameter when the encoding is malformed, is not UTF-8 or hides a NUL
 */
export function decodeParameter(name: string, raw: string): string {
  const value = decodedOnce(name, raw);
  if (value.includes("\0")) throw badRequest(`${name}: a NUL character is not allowed`);
  return value;
}

function decodedOnce(name: string, raw: string): string {
  const value = percentDecoded(raw);
  if (value === null) throw badRequest(`${name}: malformed percent-encoding`);
  return value;
}

/** The part of a path behind its first `count` slashes. */
function afterSegments(path: string, count: number): string {
  let at = -1;
  for (let n = 0; n < count; n++) at = path.indexOf("/", at + 1);
  return path.slice(at + 1);
}

function noEmptyKey(): never {
  throw notFound();
}

function withoutSlash({ target: { path, query } }: RequestContext): Response {
  const location = path.replace(/\/$/, "") + (query === "" ? "" : `?${query}`);
  return new Response(null, { status: 307, headers: { Location: headerText(location) } });
}

function isParameter(name: string): boolean {
  return name.startsWith("{") && name.endsWith("}");
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

/** Delay before buffered lines are written, ms: a timer and a write cost more than ten lines. */
const FLUSH_AFTER_MS = 20;
const FLUSH_AT_CHARACTERS = 64 * 1024;
const MAX_LOGGED_TEXT = 512;

/** Where finished log lines go. */
export interface RequestLog {
  /** Adds one JSON line; `ts` is put in front. */
  write(entry: LogEntry): void;
  /** Writes what is buffered; call it before the process ends. */
  flush(): void;
}

export interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly [member: string]: unknown;
}

/**
 * A log that collects lines for {@link FLUSH_AFTER_MS} and passes them to `sink` as one text, since a system call per
 * request would cost more than the line.
 */
export function batchedLog(sink: (text: string) => void = toStandardError, now: () => number = Date.now): RequestLog {
  let buffer = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stamp = timestamps();
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = buffer;
    buffer = "";
    if (text !== "") sink(text);
  };
  return {
    write(entry) {
      buffer += `{"ts":"${stamp(now())}",${JSON.stringify(entry).slice(1)}\n`;
      if (buffer.length >= FLUSH_AT_CHARACTERS) return flush();
      timer ??= setTimeout(flush, FLUSH_AFTER_MS);
    },
    flush,
  };
}

function toStandardError(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

/** Times (ms since 1970) as text, to the millisecond; most lines share theirs with the one before. */
function timestamps(): (now: number) => string {
  let last = NaN;
  let text = "";
  return (now) => {
    if (now !== last) {
      text = new Date(now).toISOString();
      last = now;
    }
    return text;
  };
}

/** Called when the response's headers are known; `milliseconds` is the time to that point. */
export type MeasureRequest = (context: RequestContext, response: Response, milliseconds: number) => void;

/**
 * One line per request, written when the response's headers are known; `duration_ms` is the time to that point.
 * Paths in `silent` (health probes) are left out. `measure` is called for all of them.
 */
export function accessLog(
  log: RequestLog,
  options: { readonly silent: ReadonlySet<string>; readonly clock?: () => number; readonly measure?: MeasureRequest },
): Middleware {
  const clock = options.clock ?? (() => performance.now());
  return async function accessLog(c, next) {
    const started = clock();
    await next();
    const context = c.get("context");
    const milliseconds = clock() - started;
    options.measure?.(context, c.res, milliseconds);
    if (options.silent.has(context.target.path)) return;
    const entry = describeRequest("info", context);
    entry.status = c.res.status;
    entry.duration_ms = loggedMs(milliseconds);
    log.write(entry);
  };
}

/** The members that every line about a request carries; more may be added. */
function describeRequest(
  level: LogEntry["level"],
  context: RequestContext,
): { readonly level: LogEntry["level"]; [member: string]: unknown } {
  const { path, query } = context.target;
  const { caller } = context;
  return {
    level,
    request_id: context.requestId,
    operation: context.operation ?? null,
    // Left out of the line where it is undefined.
    audit: context.audit,
    method: context.method,
    path: shortened(redactPath(path)),
    query: redactQuery(query),
    user: caller ? shortened(caller.username) : null,
    tenant: caller?.tenant ?? null,
    client_ip: context.clientAddress,
  };
}

/** A duration in ms as lines have it: to the hundredth. */
function loggedMs(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

function shortened(text: string): string {
  return text.length > MAX_LOGGED_TEXT ? text.slice(0, MAX_LOGGED_TEXT) + "…" : text;
}
