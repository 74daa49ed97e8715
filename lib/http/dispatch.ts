import type { Hono, MiddlewareHandler } from "hono";
import type { HttpContext, HttpEnv } from "./env.ts";
import { methodNotAllowed, notFound } from "./errors.ts";
import { headerText } from "./header_text.ts";
import type { Operation } from "./operation.ts";
import { decodeKey, decodeParameter } from "./raw_path.ts";

const KEY = "{key}";

/**
 * Registers operations with Hono, one route per path template. The method is looked up in our own table, since Hono
 * runs HEAD as GET and knows no 405; a trailing slash on a known path is a 307 to the path without it.
 *
 * Templates that share the part in front of `{key}` become one route whose rest is matched by {@link matchRest}.
 *
 * @param around middleware of these routes only, such as CORS, the outermost first
 */
export function mount(
  app: Hono<HttpEnv>,
  operations: readonly Operation[],
  ...around: readonly MiddlewareHandler<HttpEnv>[]
): void {
  const prefixes = [...new Set(operations.filter((op) => op.path.includes(KEY)).map((op) => op.path.split(KEY)[0]))];
  const byPath = Map.groupBy(operations, (op) => prefixes.find((prefix) => op.path.startsWith(prefix)) ?? op.path);
  for (const [path, group] of byPath) {
    const open = prefixes.includes(path);
    const route = honoPath(path) + (open ? ":rest{[^]+}" : "");
    const dispatcher = open ? keyDispatcher(path, group) : plainDispatcher(path, group);
    for (const step of around) app.all(route, step);
    app.all(route, dispatcher);
    if (!open && path !== "/" && !prefixes.includes(path + "/")) app.all(honoPath(path) + "/", redirectWithoutSlash);
  }
}

function plainDispatcher(template: string, operations: readonly Operation[]) {
  const byMethod = new Map<string, Operation>(operations.map((operation) => [operation.method, operation]));
  const names = template.split("/");
  return function dispatch(c: HttpContext): Promise<Response> {
    const operation = byMethod.get(c.req.method);
    if (!operation) throw methodNotAllowed(byMethod.keys());
    return operation.answer(c, () => segmentParameters(names, c.get("target").path));
  };
}

function keyDispatcher(prefix: string, operations: readonly Operation[]) {
  const names = prefix.split("/");
  const routes = operations.map((operation) => ({ operation, rest: operation.path.slice(prefix.length) }));
  routes.sort((a, b) => specificity(b.rest) - specificity(a.rest));
  return async function dispatch(c: HttpContext): Promise<Response> {
    const target = c.get("target");
    const raw = afterSegments(target.path, names.length - 1);
    const keyOnly = readsAsObject(target.query);
    const rest = decodedOrNull(raw);
    if (rest === null) return await refuseKey(c, raw, operations);
    const allowed = new Set<string>();
    for (const { operation, rest: template } of routes) {
      if (keyOnly && template !== KEY) continue;
      const parameters = matchRest(template, rest);
      if (!parameters) continue;
      if (operation.method === c.req.method) {
        return await operation.answer(c, () => ({ ...segmentParameters(names, target.path), ...parameters }));
      }
      allowed.add(operation.method);
    }
    throw allowed.size > 0 ? methodNotAllowed(allowed) : notFound();
  };
}

/** `?as=object` reads the whole rest of a key route as a key, also where a word in it is reserved. */
function readsAsObject(query: string): boolean {
  return query.includes("as=") && new URLSearchParams(query).getAll("as").at(-1) === "object";
}

/** A malformed key is refused like every bad parameter: once the caller is known. */
function refuseKey(c: HttpContext, raw: string, operations: readonly Operation[]): Promise<Response> {
  const operation = operations.find(({ method }) => method === c.req.method);
  if (!operation) throw methodNotAllowed(new Set(operations.map(({ method }) => method)));
  return operation.answer(c, () => ({ key: decodeKey(raw) }));
}

function decodedOrNull(raw: string): string | null {
  try {
    return decodeKey(raw);
  } catch {
    return null;
  }
}

/**
 * Matches the decoded rest of a key route against a template: `{key}` is any text, `{key}/copy` any text before that
 * suffix, `delete` itself, `download/{task_id}` a literal and one segment.
 *
 * @returns the parameters, or null when it does not match
 */
export function matchRest(template: string, rest: string): Record<string, string> | null {
  if (template.startsWith(KEY)) {
    const suffix = template.slice(KEY.length);
    return rest.length > suffix.length && rest.endsWith(suffix)
      ? { key: rest.slice(0, rest.length - suffix.length) }
      : null;
  }
  const names = template.split("/");
  const values = rest.split("/");
  if (names.length !== values.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    if (isParameter(name)) {
      if (values[index] === "") return null;
      parameters[name.slice(1, -1)] = values[index];
    } else if (name !== values[index]) return null;
  }
  return parameters;
}

/** Literals before suffixes before the plain key. */
function specificity(rest: string): number {
  if (rest === KEY) return 0;
  return rest.startsWith(KEY) ? rest.length : 1000 + rest.length;
}

function segmentParameters(names: readonly string[], rawPath: string): Record<string, string> {
  const segments = rawPath.split("/");
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    if (isParameter(name)) parameters[name.slice(1, -1)] = decodeParameter(name.slice(1, -1), segments[index] ?? "");
  }
  return parameters;
}

/** What follows the first `count` slashes of a path. */
function afterSegments(path: string, count: number): string {
  let at = -1;
  for (let n = 0; n < count; n++) at = path.indexOf("/", at + 1);
  return path.slice(at + 1);
}

function redirectWithoutSlash(c: HttpContext): Response {
  const { path, query } = c.get("target");
  const location = path.replace(/\/$/, "") + (query === "" ? "" : `?${query}`);
  return new Response(null, { status: 307, headers: { Location: headerText(location) } });
}

function honoPath(template: string): string {
  return template.replace(/\{(\w+)\}/g, ":$1");
}

function isParameter(name: string): boolean {
  return name.startsWith("{") && name.endsWith("}");
}
