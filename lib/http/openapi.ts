import { z } from "zod";
import { isObject } from "@/lib/std/untrusted.ts";
import type { Operation } from "./operation.ts";

export interface DocumentInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Shown on the login form of the API page. */
  readonly loginDescription: string;
  /** Relative to the server, without a leading slash. */
  readonly tokenUrl: string;
  /** The tag that is shown first, where an operation has it. */
  readonly firstTag: string;
  /** Name of the session cookie of operations that know their callers by it. */
  readonly sessionCookie: string;
}

type Json = Record<string, unknown>;

const SECURITY_SCHEMES = { bearer: "OAuth2PasswordBearer", session: "SessionCookie" } as const;
const ERROR_SCHEMA = z.object({
  detail: z.union([
    z.string(),
    z.array(z.object({
      type: z.string(),
      loc: z.array(z.union([z.string(), z.int()])),
      msg: z.string(),
      input: z.unknown().optional(),
      ctx: z.record(z.string(), z.unknown()).optional(),
    })),
    z.record(z.string(), z.unknown()),
  ]),
  code: z.string().optional().meta({ description: "Stable code of the error" }),
  params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
}).meta({ id: "Error", description: "An error response. `detail` is a list for invalid parameters and fields (422)." });

const REQUEST_ID = "RequestId";
/** Read by the envelope around every operation. */
const REQUEST_ID_HEADER = {
  name: "X-Request-ID",
  in: "header",
  required: false,
  description:
    "Identifies the request in the response and in the access log: 1 to 128 letters, digits, dots, underscores or " +
    "hyphens. Any other value is replaced by a generated one.",
  schema: { type: "string" },
};

/** The OpenAPI 3.1 document of a set of operations, made from the very schemas that validate. */
export function openApiDocument(operations: readonly Operation[], info: DocumentInfo): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(operation, components);
  }
  return {
    openapi: "3.1.0",
    info: { title: info.title, version: info.version, description: info.description },
    servers: [{ url: "/" }],
    tags: tagNames(operations, info.firstTag).map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      parameters: { [REQUEST_ID]: REQUEST_ID_HEADER },
      securitySchemes: {
        [SECURITY_SCHEMES.bearer]: {
          type: "oauth2",
          description: info.loginDescription,
          flows: { password: { tokenUrl: info.tokenUrl, scopes: {} } },
        },
        [SECURITY_SCHEMES.session]: {
          type: "apiKey",
          in: "cookie",
          name: info.sessionCookie,
          description: "The session cookie of the site's login.",
        },
      },
    },
  };
}

/** Every tag once, in the order in which it is shown. */
function tagNames(operations: readonly Operation[], first: string): string[] {
  const names = new Set(operations.map(({ tag }) => tag));
  return names.has(first) ? [...new Set([first, ...names])] : [...names];
}

/** Under which action the change of an operation is recorded (OpenAPI 3.1, specification extensions). */
const AUDIT_EXTENSION = "x-audit-action";

function describe(operation: Operation, components: Json): Json {
  const { body } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.audited ? { [AUDIT_EXTENSION]: operation.audited } : {}),
    ...(operation.description ? { description: operation.description } : {}),
    parameters: [
      ...pathParameters(operation, components),
      ...queryParameters(operation, components),
      { $ref: `#/components/parameters/${REQUEST_ID}` },
    ],
    ...(body ? { requestBody: requestBody(body, components) } : {}),
    responses: responses(operation, components),
    ...(operation.login ? { security: [{ [SECURITY_SCHEMES[operation.login]]: [] }] } : {}),
  };
}

function pathParameters(operation: Operation, components: Json): Json[] {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  return names.map((name) =>
    parameter({ name, in: "path", required: true }, operation.paramsSchema?.shape[name] ?? z.string(), components)
  );
}

function queryParameters(operation: Operation, components: Json): Json[] {
  return Object.entries(operation.querySchema?.shape ?? {}).map(([name, schema]) =>
    withoutReach(
      parameter({ name, in: "query", required: !z.safeParse(schema, undefined).success }, schema, components),
    )
  );
}

function parameter(given: Json, type: z.core.$ZodType, components: Json): Json {
  const { description, ...schema } = jsonSchema(type, components);
  return { ...given, ...(description ? { description } : {}), schema };
}

/** In a query, numbers beyond those that are counted exactly are taken as the nearest of these, and so are no violation. */
function withoutReach(parameter: Json): Json {
  if (!isObject(parameter.schema)) return parameter;
  const bounds = Object.entries(parameter.schema).filter(([name, value]) =>
    !(name === "maximum" && value === Number.MAX_SAFE_INTEGER) &&
    !(name === "minimum" && value === Number.MIN_SAFE_INTEGER)
  );
  return { ...parameter, schema: Object.fromEntries(bounds) };
}

function requestBody(body: NonNullable<Operation["body"]>, components: Json): Json {
  if (body.kind === "raw") {
    const { description, formField } = body;
    const binary = { type: "string", format: "binary" };
    const content = formField === undefined ? { "application/octet-stream": { schema: binary } } : {
      "multipart/form-data": { schema: { type: "object", required: [formField], properties: { [formField]: binary } } },
    };
    // No body is an empty one, and an object may well be empty.
    return { required: formField !== undefined, description, content };
  }
  const media = body.kind === "json" ? "application/json" : "application/x-www-form-urlencoded";
  const required = body.kind === "form" || !z.safeParse(body.schema, undefined).success;
  return { required, content: { [media]: { schema: jsonSchema(body.schema, components) } } };
}

const UNAUTHENTICATED = {
  bearer: "Missing, expired or invalid token, or credentials that the store rejects",
  session: "Not logged in, or the session has ended",
} as const;

/** Errors of every operation behind the gateway's token, which sends its request to a store. */
const OF_THE_STORE: Readonly<Record<number, string>> = {
  400: "The store rejects the request as invalid",
  403: "The account lacks a permission",
  429: "Too many wrong passwords from this address or for this account; retry after `Retry-After`",
  502: "The store cannot be reached, or its response is invalid",
  503: "The store or the gateway is busy; retry after `Retry-After`",
  504: "The store did not respond in time",
};

const OF_A_BODY: Readonly<Record<number, string>> = {
  408: "The body was not received in time",
  413: "The body is too large",
};

/** The errors that follow from how an operation authenticates its callers and reads its input. */
function inherentErrors({ login, method, querySchema, body }: Operation): Record<number, string> {
  const isRead = body !== undefined && body.kind !== "raw";
  const isValidated = isRead || Object.keys(querySchema?.shape ?? {}).length > 0;
  const errors: Record<number, string> = {};
  if (login !== null) errors[401] = UNAUTHENTICATED[login];
  if (login === "bearer") Object.assign(errors, OF_THE_STORE);
  if (login === "bearer" && method !== "GET" && method !== "HEAD") errors[507] = "The store's disk is full";
  if (isRead) Object.assign(errors, OF_A_BODY);
  if (body?.kind === "form") errors[400] = "The form is malformed";
  if (isValidated) errors[422] = "Invalid parameter or body; `detail` lists the errors";
  return errors;
}

const ANY_TYPE = "*/*";
/** Generators of clients that do not know "any type" take the bytes by this one. */
const BYTES = "application/octet-stream";

function responses(operation: Operation, components: Json): Json {
  const error = (description: string) => ({
    description,
    content: { "application/json": { schema: jsonSchema(ERROR_SCHEMA, components) } },
  });
  const described: Json = Object.fromEntries(
    Object.entries(inherentErrors(operation)).map(([status, description]) => [status, error(description)]),
  );
  for (const [status, { description, schema, mediaType }] of Object.entries(operation.responses)) {
    if (!schema && !mediaType) described[status] = Number(status) < 400 ? { description } : error(description);
    else {
      const content = { schema: schema ? jsonSchema(schema, components) : { type: "string", format: "binary" } };
      const types = mediaType === ANY_TYPE ? [BYTES, ANY_TYPE] : [mediaType ?? "application/json"];
      described[status] = { description, content: Object.fromEntries(types.map((type) => [type, content])) };
    }
  }
  described.default = error("Any other error");
  return described;
}

/** A schema as JSON Schema; the ones with an id move into `components` and are referred to. */
function jsonSchema(schema: z.core.$ZodType, components: Json): Json {
  const { $schema: _dialect, $defs, ...rest } = relocated(
    z.toJSONSchema(schema, { io: "input", unrepresentable: "any", override: withExamples }),
  );
  if (isObject($defs)) { for (const [id, definition] of Object.entries($defs)) components[id] ??= definition; }
  return rest;
}

/** Ours are of what is sent, also where the schema turns it into something else: there zod leaves them out. */
function withExamples({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void {
  const examples = z.globalRegistry.get(zodSchema)?.examples;
  if (examples) jsonSchema.examples = examples;
}

function relocated(schema: unknown): Json {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  const parsed: unknown = JSON.parse(text);
  return isObject(parsed) ? parsed : {};
}
