import { z } from "zod";
import type { AuditDetails, AuditTarget } from "@/lib/http/audit_event.ts";
import type { AuditSpec, Method, Operation, ResponseSpec } from "@/lib/http/operation.ts";
import { compressibleJson } from "@/lib/http/header_values.ts";
import {
  callMapi,
  callMapiForRecords,
  type Mapi,
  type MapiCall,
  mapiPath,
  storeAnswer,
} from "@/lib/mapi/mapi_client.ts";
import { listQuery, storeQuery } from "@/lib/mapi/records/fields.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import { entries, member } from "@/lib/std/untrusted.ts";
import type { GatewayOperation } from "@/routes/api/v1/operation.ts";

/** The prefix of the management operations. */
export const PREFIX = "/api/v1/mapi";

/** The names in a path, by their parameters. */
export type Names = Readonly<Record<string, string>>;
type NoQuery = z.ZodObject<Record<never, never>>;

interface Common {
  /** Stable name of the operation. */
  readonly id: string;
  /** Below `/api/v1/mapi`, and the store's own path unless `storePath` says another. */
  readonly path: string;
  readonly storePath?: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The name of the resource in errors. */
  readonly resource: (names: Names) => string;
}

interface ReadSpec<S extends z.ZodType, Q extends z.ZodObject> extends Common {
  readonly schema: S;
  readonly query?: Q;
  /** Members of the response that the store sends as headers. */
  readonly headerMembers?: (headers: Headers) => Record<string, unknown>;
}

interface WriteSpec<B extends z.ZodType, Q extends z.ZodObject, A extends z.ZodType> extends Common {
  readonly method: "PUT" | "POST" | "DELETE";
  readonly body?: B;
  /** Largest body, bytes; 1 MiB when absent. */
  readonly limitBytes?: number;
  readonly query?: Q;
  /** The response's shape, and the response: the store sends no body. */
  readonly schema: A;
  readonly result: (names: Names, body: z.output<B>) => z.input<A>;
  /** Called once the store has made the change. */
  readonly done?: (names: Names, body: z.output<B>) => void;
  /** The action under which it is recorded. */
  readonly audit: AuditAction;
  /** Another action, where the query decides. */
  readonly auditOf?: (query: z.output<Q>) => AuditAction;
}

/**
 * Makers of management operations. Each hands one request on to the store's resource of the same path, with the
 * caller's credentials, and gives the response the shape that is documented.
 */
export function mapiOperations(operation: GatewayOperation, mapi: Mapi) {
  return {
    /** GET of a record, a list or a report. Full records of a list may be too long for memory: then they are streamed. */
    read<S extends z.ZodType, Q extends z.ZodObject = NoQuery>(spec: ReadSpec<S, Q>): Operation {
      const { schema, headerMembers, resource, storePath, path, query, ...described } = spec;
      const isList = (query as z.ZodObject | undefined) === listQuery;
      return operation({
        ...described,
        method: "GET",
        path: PREFIX + path,
        params: parameters(path),
        query,
        responses: { 200: { description: "The record, list or report", schema }, ...FAILURES },
        async handler({ caller, params, query }, context) {
          const label = resource(params);
          const call: MapiCall = {
            method: "GET",
            path: mapiPath(storePath ?? path, params),
            query: storeQuery(query),
            resource: label,
            unread: () => context.info?.breakOff?.(),
          };
          const send = isList && call.query?.verbose === true ? callMapiForRecords : callMapi;
          const received = await send(mapi, caller, call);
          if (received instanceof ReadableStream) {
            return new Response(received, { headers: { "Content-Type": "application/json" } });
          }
          const { body, headers } = received;
          const record = storeAnswer(schema, body, label);
          return compressibleJson(
            context.request,
            headerMembers ? { ...Object(record), ...headerMembers(headers) } : record,
          );
        },
      });
    },

    /** PUT, POST or DELETE: one change, one line in the access log, one record in the audit trail. */
    write<A extends z.ZodType, B extends z.ZodType = z.ZodUndefined, Q extends z.ZodObject = NoQuery>(
      spec: WriteSpec<B, Q, A>,
    ): Operation {
      const { body: schema, resource, storePath, path, query, result, audit, auditOf, limitBytes, ...rest } = spec;
      const { schema: ofResult, done, ...described } = rest;
      const { method } = spec;
      const [status, description] = method === "PUT" ? [201, "Created"] : [200, "Changed"];
      return operation({
        ...described,
        audit: {
          ...auditOfChange(audit, method, path),
          actionOf: auditOf && ((input: { readonly query: z.output<Q> }) => auditOf(input.query)),
        },
        path: PREFIX + path,
        params: parameters(path, method),
        query,
        body: schema && { kind: "json", schema, limitBytes },
        responses: { [status]: { description, schema: ofResult }, ...FAILURES },
        async handler({ caller, params, query, body }) {
          const given = body as z.output<B>;
          await callMapi(mapi, caller, {
            method,
            path: mapiPath(storePath ?? path, params),
            query: storeQuery(query),
            // The store takes a POST only with a body, be it an empty one.
            body: schema ? Object(given) : method === "POST" ? {} : undefined,
            resource: resource(params),
          });
          done?.(params, given);
          return Response.json(Object(result(params, given)), { status });
        },
      });
    },

    /** HEAD: 200 or 404, without a body. */
    exists(spec: Common): Operation {
      const { resource, path, ...described } = spec;
      return operation({
        ...described,
        method: "HEAD",
        path: PREFIX + path,
        params: parameters(path),
        responses: { 200: { description: "The resource exists" }, ...FAILURES },
        async handler({ caller, params }) {
          await callMapi(mapi, caller, { method: "HEAD", path: mapiPath(path, params), resource: resource(params) });
          return new Response(null);
        },
      });
    },
  };
}

export type MapiOperations = ReturnType<typeof mapiOperations>;

/** Failures that any management operation may return, besides those of every operation. */
export const FAILURES: Readonly<Record<number, ResponseSpec>> = {
  404: { description: "No such resource, or the account may not see it" },
  405: { description: "The store does not support this method here" },
  409: { description: "The resource already exists, or its state does not allow the change" },
  414: { description: "A name in the path is too long" },
  415: { description: "The store does not support the media type of the body" },
};

/** Example names for reads: the embedded store's samples have most of them. */
const READ_EXAMPLES: Readonly<Record<string, string>> = {
  tenant_name: "archive",
  username: "curator",
  groupname: "editors",
  name: "letters",
  ns: "letters",
  plan_name: "Default",
  retention_class: "letters",
};

/**
 * Example names for changes: none that the samples have, since the API page's "Execute" sends examples as they
 * stand. The examples of creations create these.
 */
const CHANGED_EXAMPLES: Readonly<Record<string, string>> = {
  ...READ_EXAMPLES,
  username: "lena",
  name: "notes",
  ns: "field-notes",
  retention_class: "notes",
};

/** A tenant that no sample is, for what changes a tenant itself. */
const OTHER_TENANT = "museum";

/** The schema of the names in a path template, with examples for the method that is used on it. */
export function parameters(path: string, method: Method = "GET"): z.ZodObject<Record<string, z.ZodString>> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const examples = examplesFor(path, names, method);
  return z.object(
    Object.fromEntries(names.map((name) => [name, z.string().min(1).meta({ examples: [examples[name]] })])),
  );
}

function examplesFor(path: string, names: readonly string[], method: Method): Readonly<Record<string, string>> {
  if (method === "GET" || method === "HEAD") return READ_EXAMPLES;
  const makesSomethingInside = method === "PUT" && !path.endsWith("/cors");
  return names.length > 1 || makesSomethingInside
    ? CHANGED_EXAMPLES
    : { ...CHANGED_EXAMPLES, tenant_name: OTHER_TENANT };
}

/** The input of a management operation, as far as its record needs it. */
interface ChangeInput {
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * How a management change is recorded: its target by the names in its path, or in its body where it creates something;
 * of what is set the names alone, and which roles an account has.
 *
 * @param path its template
 */
function auditOfChange(action: AuditAction, method: string, path: string): AuditSpec<ChangeInput> {
  const setting = settingIn(path);
  return {
    action,
    tenant: ({ params, body }) => params.tenant_name ?? textIn(body, "name") ?? null,
    target: ({ params, body }) => targetOf(action, params, body),
    details: ({ params, body }) => ({
      ...(setting === null ? settingsIn(action, body) : { settings: setting }),
      ...(params.retention_class === undefined ? {} : { retention_class: params.retention_class }),
      ...rolesIn(body),
      ...bucketsIn(body),
      ...(method === "DELETE" && setting !== null ? { removed: true } : {}),
    }),
  };
}

/** The document or the list of settings that a path ends in; null where it is a record, or the list that it is created in. */
function settingIn(path: string): string | null {
  const behind = /\/namespaces\/\{ns\}\/([^{]+?)(?:\/\{\w+\})?$/.exec(path) ??
    /\}\/([^/{}]+(?:\/[^/{}]+)*)$/.exec(path);
  return behind === null || LISTS.has(behind[1]) ? null : behind[1];
}

const LISTS: ReadonlySet<string> = new Set(["userAccounts", "groupAccounts", "contentClasses", "namespaces"]);

function targetOf(action: AuditAction, params: Readonly<Record<string, string>>, body: unknown): AuditTarget {
  const [kind] = action.split("_");
  const name = (parameter: string) => optional("name", params[parameter] ?? textIn(body, parameter));
  if (params.username !== undefined || kind === "account" || kind === "password") {
    return { kind: "account", ...name("username") };
  }
  if (params.groupname !== undefined || kind === "group") return { kind: "group", ...name("groupname") };
  if (kind === "content") return { kind: "content_class", ...name("name") };
  if (params.ns !== undefined || kind === "bucket") {
    return { kind: "bucket", ...optional("bucket", params.ns ?? textIn(body, "name")) };
  }
  return { kind: "tenant", ...optional("name", params.tenant_name ?? textIn(body, "name")) };
}

function optional(member: "name" | "bucket", value: string | undefined): { name?: string; bucket?: string } {
  return value === undefined ? {} : { [member]: value };
}

function textIn(body: unknown, name: string): string | undefined {
  const value = member(body, name);
  return typeof value === "string" ? value : undefined;
}

/** The names of what a change sets; of a password there is nothing to say. */
function settingsIn(action: AuditAction, body: unknown): AuditDetails {
  if (action === "password_change" || action.endsWith("_create") || typeof body !== "object" || body === null) {
    return {};
  }
  const names = Object.keys(body);
  return names.length === 0 ? {} : { settings: names.join(", ") };
}

function rolesIn(body: unknown): AuditDetails {
  const roles = member(body, "roles", "role");
  return Array.isArray(roles) ? { roles: roles.filter((role) => typeof role === "string").join(", ") } : {};
}

/** The buckets in which permissions are set. */
function bucketsIn(body: unknown): AuditDetails {
  const named = entries(member(body, "namespacePermission")).map((permission) => textIn(permission, "namespaceName"));
  return named.length === 0 ? {} : { count: named.length, buckets: named.filter((name) => name !== undefined) };
}
