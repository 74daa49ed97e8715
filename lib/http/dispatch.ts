import { percentDecoded } from "@/lib/std/text.ts";
import { addBelow, type AddRoute } from "./app.ts";
import { headerText } from "./header_values.ts";
import { badRequest, methodNotAllowed, notFound } from "./errors.ts";
import type { Handler, RequestContext } from "./request_context.ts";
import type { Operation } from "./operation.ts";

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
