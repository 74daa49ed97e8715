import type { z } from "zod";
import type { AuditAction, AuditResult } from "@/lib/std/audit_words.ts";
import type { AuditDetails, AuditRecorder, AuditTarget } from "./audit_event.ts";
import { readForm, readJson } from "./body.ts";
import { HttpError, invalid, type ValidationEntry } from "./errors.ts";
import { mediaTypeOf } from "./header_values.ts";
import { isSecretName, type RequestContext } from "./request_context.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

/** How a request body is read. `raw`: the handler reads it from the request. */
type BodySpec =
  | {
    readonly kind: "json";
    readonly schema: z.ZodType;
    /** Largest body, bytes; 1 MiB when absent. */
    readonly limitBytes?: number;
    /** Ignores a body whose Content-Type is not JSON. Otherwise JSON is read whatever the type. */
    readonly ignoresOtherTypes?: boolean;
  }
  | { readonly kind: "form"; readonly schema: z.ZodObject }
  | {
    readonly kind: "raw";
    readonly description: string;
    /** The body is a form, and this part of it a file. */
    readonly formField?: string;
  };

/** One possible response, for the OpenAPI document. */
export interface ResponseSpec {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Media type of a body that is not JSON. */
  readonly mediaType?: string;
}

interface Described {
  /** Stable name: the log's `operation` and OpenAPI's `operationId`. */
  readonly id: string;
  readonly method: Method;
  /** Template such as `/api/v1/buckets/{bucket}`; `{key}` may span slashes, every other parameter is one segment. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
}

/** An operation as its route file writes it. */
interface OperationSpec<
  Caller,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends BodySpec | undefined,
> extends Described {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** How what it changes is recorded; absent: it changes nothing. */
  readonly audit?: AuditSpec<Input<Caller, P, Q, B>>;
  readonly handler: (input: Input<Caller, P, Q, B>, context: RequestContext) => Response | Promise<Response>;
}

interface Input<Caller, P extends z.ZodObject, Q extends z.ZodObject, B extends BodySpec | undefined> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: B extends { schema: infer S extends z.ZodType } ? z.output<S> : undefined;
  readonly caller: Caller;
}

/** Identifies the caller, or throws; called before a body is read and before anything is validated. */
export type Authenticate<Caller> = (context: RequestContext) => Caller | Promise<Caller>;

/** An operation ready to be routed and documented; type-erased: input types are known only inside `handle`. */
export interface Operation extends Described {
  /** How its caller is known; null: it needs no credentials. */
  readonly login: Login | null;
  readonly paramsSchema?: z.ZodObject;
  readonly querySchema?: z.ZodObject;
  readonly body?: BodySpec;
  /** Under which action what it changes is recorded; null: it is not. */
  readonly audited: AuditAction | null;
  /** Authenticates, reads, validates, handles. `params` decodes the path parameters when it is called. */
  handle(context: RequestContext, params: () => Readonly<Record<string, string>>): Promise<Response>;
}

/** How callers are known: by the gateway's bearer token, or by the session cookie of the results store. */
type Login = "bearer" | "session";

/** A maker of operations that only authenticated callers reach; their changes are recorded where there is a recorder. */
export function operationsFor<Caller>(
  authenticate: Authenticate<Caller>,
  login: Login,
  recorder: AuditRecorder | null = null,
) {
  return function operation<
    P extends z.ZodObject = z.ZodObject<Record<never, never>>,
    Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
    B extends BodySpec | undefined = undefined,
  >(spec: OperationSpec<Caller, P, Q, B>): Operation {
    return seal(spec, authenticate, login, recorder);
  };
}

/** An operation without credentials, for requests that `admit` accepts; it throws HttpError 503 when no slot is free. */
export function publicOperation<
  P extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends BodySpec | undefined = undefined,
>(spec: OperationSpec<null, P, Q, B>, admit?: (context: RequestContext) => void | Promise<void>): Operation {
  const authenticate = async (context: RequestContext) => {
    await admit?.(context);
    return null;
  };
  return seal(spec, authenticate, null, null);
}

function seal<Caller, P extends z.ZodObject, Q extends z.ZodObject, B extends BodySpec | undefined>(
  spec: OperationSpec<Caller, P, Q, B>,
  authenticate: Authenticate<Caller>,
  login: Login | null,
  recorder: AuditRecorder | null,
): Operation {
  const { params, query, body, audit, handler, ...described } = spec;
  return {
    ...described,
    login,
    audited: audit?.action ?? null,
    paramsSchema: params,
    querySchema: query,
    body,
    async handle(context, pathParameters) {
      context.operation = spec.id;
      context.route = spec.path;
      context.audit = audit?.action;
      const caller = await authenticate(context);
      const texts = pathParameters();
      const read = {
        params: params
          ? validate(
            params,
            readTexts(params, { get: (name) => Object.hasOwn(texts, name) ? texts[name] : null }, "path"),
            "path",
          )
          : {},
        query: query ? parseQuery(query, context.target.query) : {},
        body: body && await readBody(body, context.request),
        caller,
      };
      const input = read as Input<Caller, P, Q, B>;
      if (audit?.actionOf) context.audit = audit.actionOf(input);
      if (!audit || !recorder) return await handler(input, context);
      return await recorded(recorder, { spec: audit, input, context }, () => handler(input, context));
    },
  };
}

async function readBody(spec: BodySpec, request: Request): Promise<unknown> {
  if (spec.kind === "raw") return undefined;
  if (spec.kind === "form") {
    const fields = await readForm(request);
    return validate(spec.schema, readTexts(spec.schema, { get: (name) => fields.get(name) ?? null }, "body"), "body");
  }
  const isIgnored = spec.ignoresOtherTypes === true &&
    mediaTypeOf(request.headers.get("content-type")) !== "application/json";
  const value = isIgnored ? undefined : await readJson(request, spec.limitBytes);
  if (value === undefined && !spec.schema.safeParse(undefined).success) throw invalid([missing(["body"])]);
  return validate(spec.schema, value, "body");
}

/** How the change that an operation makes is recorded; `Input` is the validated input of its handler. */
export interface AuditSpec<Input> {
  readonly action: AuditAction;
  /** The action, if it depends on the input. */
  readonly actionOf?: (input: Input) => AuditAction;
  /** Whether a request only reads, so that it has no record. */
  readonly isRead?: (input: Input) => boolean;
  readonly target: (input: Input) => AuditTarget;
  /** The tenant of the change, if it is not the caller's. */
  readonly tenant?: (input: Input) => string | null;
  readonly details?: (input: Input) => AuditDetails;
  /** Whether a part of the change may have been made when it ends with an error. */
  readonly isPartial?: true;
}

/** Statuses for missing rights. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);
/** The client disconnected; its change may have been made. */
const CLIENT_CLOSED = 499;
/** Statuses of requests that were rejected before any change. */
const BEFORE_ANY: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501]);

/** The result of a change by the status of its response; null: there was none. */
function resultOf(status: number, isPartial: boolean): AuditResult | null {
  if (status < 400) return "succeeded";
  if (REFUSED.has(status)) return "refused";
  if (BEFORE_ANY.has(status)) return null;
  return isPartial || status >= 500 || status === CLIENT_CLOSED ? "failed" : null;
}

interface Change<Input> {
  readonly spec: AuditSpec<Input>;
  readonly input: Input;
  readonly context: RequestContext;
}

/**
 * Handles a request whose change is recorded: the response is returned once its record is there. Requests that changed
 * nothing have none.
 *
 * @throws what `handle` throws; HttpError 507 as {@link AuditRecorder}
 */
export async function recorded<Input>(
  recorder: AuditRecorder,
  { spec, input, context }: Change<Input>,
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  if (spec.isRead?.(input)) return await handle();
  recorder.requireRoom();
  const { caller } = context;
  // Read before the handler, which may modify its input.
  const described = {
    action: spec.actionOf?.(input) ?? spec.action,
    tenant: spec.tenant ? spec.tenant(input) : caller?.tenant ?? null,
    actor: caller ? { name: caller.username, tenant: caller.tenant } : null,
    target: spec.target(input),
  };
  const details = spec.details?.(input);
  const record = async (status: number) => {
    const result = resultOf(status, spec.isPartial ?? false);
    if (result === null || !(await isKnownActor(context, result, status))) return;
    const { clientAddress: address, requestId, role = null } = context;
    const event = { ...described, address, requestId, role, result, status, details: { ...details, ...context.noted } };
    await recorder.record(event);
  };
  let response: Response;
  try {
    response = await handle();
  } catch (error) {
    // The client gets its error whether or not it could be recorded.
    await record(error instanceof HttpError ? error.status : 500).catch(() => {});
    throw error;
  }
  try {
    await record(response.status);
  } catch (error) {
    if (response.status >= 400) return response;
    await response.body?.cancel().catch(() => {});
    throw error;
  }
  return response;
}

/**
 * Whether the store has accepted the credentials of a request, or could not be asked. Wrong credentials are recorded as a
 * failed login; a URL signed with them is of no use.
 */
async function isKnownActor(context: RequestContext, result: AuditResult, status: number): Promise<boolean> {
  if (context.admitted !== "unproven" || context.isAccepted) return true;
  // The change of a client that disconnects before the store's response must be recorded. No response waits for this.
  const hasLeft = status === CLIENT_CLOSED && context.prove !== undefined;
  if (result !== "succeeded" && !hasLeft) return false;
  try {
    await context.prove?.();
    return true;
  } catch (error) {
    return !hasLeft && (!(error instanceof HttpError) || !REFUSED.has(error.status));
  }
}

const MAX_ENTRIES = 100;
const MAX_ECHOED_CHARACTERS = 256;

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];
type DescribedIssue = Pick<ValidationEntry, "type" | "msg" | "ctx">;

/**
 * The output of a schema for a value.
 *
 * @param location `body`, `query` or `path`: the first element of every `loc`
 * @throws HttpError 422 with one entry per problem, 100 at most; values are echoed only when short, plain and not secret
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown, location: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(result.error.issues.flatMap((issue) => entries(issue, value, location)).slice(0, MAX_ENTRIES));
}

/** The entry for a field that is not there. */
export function missing(location: Path): ValidationEntry {
  return { type: "missing", loc: location, msg: "Field required" };
}

/** `input` for an entry, where the value may be shown. */
function echo(path: Path, input: unknown): Pick<ValidationEntry, "input"> {
  if (path.some((part) => typeof part === "string" && isSecretName(part))) return {};
  if (typeof input === "string") return input.length <= MAX_ECHOED_CHARACTERS ? { input } : {};
  return input === null || typeof input === "number" || typeof input === "boolean" ? { input } : {};
}

function entries(issue: Issue, value: unknown, location: string): ValidationEntry[] {
  const path = issue.path.map((part) => typeof part === "symbol" ? String(part) : part);
  const loc = [location, ...path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      type: "extra_forbidden",
      loc: [...loc, key],
      msg: "Extra inputs are not permitted",
    }));
  }
  const input = valueAt(value, path);
  if (input === undefined) return [missing(loc)];
  return [{ ...describe(issue, input), loc, ...echo(path, input) }];
}

function describe(issue: Issue, input: unknown): DescribedIssue {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_PROBLEMS[issue.expected] ?? { type: "value_error", msg: "Input has the wrong type" };
    case "too_small":
    case "too_big":
      return outOfBounds(issue, input);
    case "invalid_value": {
      const words = issue.values.map((value) => `'${String(value)}'`);
      const expected = words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : words.join();
      return { type: "enum", msg: `Input should be ${expected}`, ctx: { expected } };
    }
    case "invalid_format":
      // A pattern's own words say what it wants; "a valid regex" would be wrong.
      return {
        type: "string_pattern_mismatch",
        msg: issue.format === "regex" ? issue.message : `Input should be a valid ${issue.format}`,
      };
    default:
      return { type: "value_error", msg: issue.message };
  }
}

const TYPE_PROBLEMS: Readonly<Record<string, DescribedIssue>> = {
  string: { type: "string_type", msg: "Input should be a valid string" },
  int: { type: "int_type", msg: "Input should be a valid integer" },
  number: { type: "float_type", msg: "Input should be a valid number" },
  boolean: { type: "bool_type", msg: "Input should be a valid boolean" },
  array: { type: "list_type", msg: "Input should be a valid list" },
  object: { type: "dict_type", msg: "Input should be a valid dictionary" },
  record: { type: "dict_type", msg: "Input should be a valid dictionary" },
};

function outOfBounds(issue: Extract<Issue, { code: "too_small" | "too_big" }>, input: unknown): DescribedIssue {
  const isSmall = issue.code === "too_small";
  const limit = Number(isSmall ? issue.minimum : issue.maximum);
  const [kind, bound, length, order] = isSmall
    ? ["short", "least", "min_length", "greater"]
    : ["long", "most", "max_length", "less"];
  const plural = isSmall && limit === 1 ? "" : "s";
  if (issue.origin === "string") {
    return {
      type: `string_too_${kind}`,
      msg: `String should have at ${bound} ${limit} character${plural}`,
      ctx: { [length]: limit },
    };
  }
  if (Array.isArray(input)) {
    return {
      type: `too_${kind}`,
      msg: `List should have at ${bound} ${limit} item${plural} after validation, not ${input.length}`,
      ctx: { field_type: "List", [length]: limit, actual_length: input.length },
    };
  }
  const isStrict = issue.inclusive === false;
  return {
    type: `${order}_than${isStrict ? "" : "_equal"}`,
    msg: `Input should be ${order} than ${isStrict ? "" : "or equal to "}${limit}`,
    ctx: { [order[0] + (isStrict ? "t" : "e")]: limit },
  };
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    current = Reflect.get(current, part);
  }
  return current;
}

const TRUE = new Set(["true", "1", "yes", "on", "t", "y"]);
const FALSE = new Set(["false", "0", "no", "off", "f", "n"]);

/**
 * The query of a request under a schema of plain types: integers, numbers and booleans are read from their text by the
 * type the schema names, so that one schema both validates and documents. Unknown members are dropped, the last of
 * repeated ones counts.
 *
 * @param query the raw query string without `?`
 * @throws HttpError 422, entries under `query`
 */
export function parseQuery<S extends z.ZodObject>(schema: S, query: string): z.output<S> {
  return validate(schema, query === "" ? {} : readTexts(schema, new URLSearchParams(query), "query"), "query");
}

/** Reads the text fields that a schema names; also used for path parameters and forms. */
function readTexts(
  schema: z.ZodObject,
  texts: { get(name: string): string | null; getAll?(name: string): string[] },
  location: string,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const problems: ValidationEntry[] = [];
  for (const [name, type] of fieldsOf(schema)) {
    const text = texts.getAll ? texts.getAll(name).at(-1) : texts.get(name) ?? undefined;
    if (text === undefined) continue;
    const value = fromText(type, text);
    if (value === undefined) {
      problems.push({ ...UNREADABLE[type], loc: [location, name], ...echo([name], text) });
    } else values[name] = value;
  }
  if (problems.length > 0) throw invalid(problems);
  return values;
}

type Readable = "boolean" | "int" | "number" | "string";

const UNREADABLE: Readonly<Record<Readable, { type: string; msg: string }>> = {
  boolean: { type: "bool_parsing", msg: "Input should be a valid boolean, unable to interpret input" },
  int: { type: "int_parsing", msg: "Input should be a valid integer, unable to parse string as an integer" },
  number: { type: "float_parsing", msg: "Input should be a valid number, unable to parse string as a number" },
  string: { type: "string_type", msg: "Input should be a valid string" },
};

function fromText(type: Readable, text: string): string | number | boolean | undefined {
  if (type === "boolean") {
    const word = text.toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
  }
  if (type === "int") return /^\s*[+-]?\d{1,400}\s*$/.test(text) ? safeInteger(Number(text)) : undefined;
  if (type === "number") return /^\s*[+-]?\d{1,15}(?:\.\d{1,15})?\s*$/.test(text) ? Number(text) : undefined;
  return text;
}

/** Beyond what is counted exactly, every number means "more than there is". */
function safeInteger(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER));
}

const fields = new WeakMap<z.ZodObject, readonly (readonly [name: string, type: Readable])[]>();

/** The fields of a schema, which is walked through once. */
function fieldsOf(schema: z.ZodObject): readonly (readonly [name: string, type: Readable])[] {
  let known = fields.get(schema);
  if (!known) {
    known = Object.entries(schema.shape).map(([name, type]) => [name, baseType(type)] as const);
    fields.set(schema, known);
  }
  return known;
}

/** The type under `optional`, `nullable` and `default` wrappers. */
function baseType(type: z.core.$ZodType): Readable {
  let { def } = type._zod;
  while ("innerType" in def && isSchema(def.innerType)) def = def.innerType._zod.def;
  if (def.type === "boolean") return "boolean";
  if (def.type !== "number") return "string";
  return "format" in def && String(def.format).includes("int") ? "int" : "number";
}

function isSchema(value: unknown): value is z.core.$ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}
