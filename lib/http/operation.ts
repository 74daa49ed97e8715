import type { z } from "zod";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import type { AuditRecorder } from "./audit_event.ts";
import { type AuditSpec, recorded } from "./audited.ts";
import { isJson, readForm, readJson } from "./body.ts";
import { invalid } from "./errors.ts";
import type { RequestContext } from "./request_context.ts";
import { missing, parseQuery, readTexts, validate } from "./validation.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

/** How a request body is read. `raw` leaves the bytes to the handler, which finds them in the request. */
type BodySpec =
  | {
    readonly kind: "json";
    readonly schema: z.ZodType;
    /** Largest body, bytes; 1 MiB when absent. */
    readonly limitBytes?: number;
    /** A body whose Content-Type is not JSON is not read, as if there were none; else JSON is read whatever it says. */
    readonly ignoresOtherTypes?: boolean;
  }
  | { readonly kind: "form"; readonly schema: z.ZodObject }
  | {
    readonly kind: "raw";
    readonly description: string;
    /** The body is a form, and this part of it a file. */
    readonly formField?: string;
  };

/** One possible answer, for the OpenAPI document. */
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

/** Identifies who is asking, or throws; it runs before a body is read and before anything is validated. */
export type Authenticate<Caller> = (context: RequestContext) => Caller | Promise<Caller>;

/** An operation ready to be routed and documented; type-erased: input types are known only inside `answer`. */
export interface Operation extends Described {
  /** How its caller is known; null: it needs no credentials. */
  readonly login: Login | null;
  readonly paramsSchema?: z.ZodObject;
  readonly querySchema?: z.ZodObject;
  readonly body?: BodySpec;
  /** Under which action what it changes is recorded; null: it is not. */
  readonly audited: AuditAction | null;
  /** Authenticates, reads, validates, handles. `params` decodes the path parameters when it is called. */
  answer(context: RequestContext, params: () => Readonly<Record<string, string>>): Promise<Response>;
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
    async answer(context, pathParameters) {
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
      return await recorded(recorder, audit, input, context, () => handler(input, context));
    },
  };
}

async function readBody(spec: BodySpec, request: Request): Promise<unknown> {
  if (spec.kind === "raw") return undefined;
  if (spec.kind === "form") {
    const fields = await readForm(request);
    return validate(spec.schema, readTexts(spec.schema, { get: (name) => fields.get(name) ?? null }, "body"), "body");
  }
  const isIgnored = spec.ignoresOtherTypes === true && !isJson(request.headers);
  const value = isIgnored ? undefined : await readJson(request, spec.limitBytes);
  if (value === undefined && !spec.schema.safeParse(undefined).success) throw invalid([missing(["body"])]);
  return validate(spec.schema, value, "body");
}
