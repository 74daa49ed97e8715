import { z } from "zod";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import { compressibleJson } from "@/lib/http/compressible.ts";
import type { Method, Operation, ResponseSpec } from "@/lib/http/operation.ts";
import { callMapi, callMapiForRecords, type Mapi, type MapiCall, pathFiller, storeAnswer } from "@/lib/mapi/client.ts";
import type { StoreQuery } from "@/lib/mapi/records/lists.ts";
import type { GatewayOperation } from "@/routes/api/v1/operation.ts";
import { auditOfChange } from "./audited_change.ts";

/** Where the management plane begins. */
export const PREFIX = "/api/v1/mapi";

type Names = Readonly<Record<string, string>>;
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
  /** What errors call the resource. */
  readonly resource: (names: Names) => string;
}

interface ReadSpec<S extends z.ZodType, Q extends z.ZodObject> extends Common {
  readonly schema: S;
  readonly query?: Q;
  /** The query as the store wants it; as it was given when absent. */
  readonly forward?: (query: z.output<Q>) => StoreQuery;
  /** Whether this is a list. Full records may be too long for memory: then they are streamed as the store sends them. */
  readonly isList?: boolean;
  /** What the response has beside the store's body. */
  readonly further?: (headers: Headers) => Record<string, unknown>;
}

interface WriteSpec<B extends z.ZodType, Q extends z.ZodObject, A extends z.ZodType> extends Common {
  readonly method: "PUT" | "POST" | "DELETE";
  readonly body?: B;
  /** Largest body, bytes; 1 MiB when absent. */
  readonly limitBytes?: number;
  /** Whether an empty object is sent where the operation takes no body. */
  readonly emptyBody?: boolean;
  readonly query?: Q;
  readonly forward?: (query: z.output<Q>) => StoreQuery;
  readonly status?: 200 | 201;
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
    /** GET of a record, a list or a report. */
    read<S extends z.ZodType, Q extends z.ZodObject = NoQuery>(spec: ReadSpec<S, Q>): Operation {
      const { schema, forward, further, isList = false, resource, storePath, path, query, ...described } = spec;
      const fill = pathFiller(storePath ?? path);
      return operation({
        ...described,
        method: "GET",
        path: PREFIX + path,
        params: parameters(path),
        query,
        responses: { 200: { description: "What the store holds", schema }, ...FAILURES },
        async handler({ caller, params, query }, context) {
          const label = resource(params);
          const call: MapiCall = {
            method: "GET",
            path: fill(params),
            query: forward ? forward(query) : texts(query),
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
          return compressibleJson(context.request, further ? { ...Object(record), ...further(headers) } : record);
        },
      });
    },

    /** PUT, POST or DELETE: one change, one line in the access log, one record in the audit trail. */
    write<A extends z.ZodType, B extends z.ZodType = z.ZodUndefined, Q extends z.ZodObject = NoQuery>(
      spec: WriteSpec<B, Q, A>,
    ): Operation {
      const { body: schema, forward, resource, storePath, path, query, result, audit, auditOf, limitBytes, ...rest } =
        spec;
      const { schema: ofResult, status = 200, emptyBody = false, done, ...described } = rest;
      const fill = pathFiller(storePath ?? path);
      return operation({
        ...described,
        audit: {
          ...auditOfChange(audit, spec.method, path),
          actionOf: auditOf && ((input: { readonly query: z.output<Q> }) => auditOf(input.query)),
        },
        path: PREFIX + path,
        params: parameters(path, spec.method),
        query,
        body: schema && { kind: "json", schema, limitBytes },
        responses: {
          [status]: { description: status === 201 ? "Created" : "Done", schema: ofResult },
          ...FAILURES,
        },
        async handler({ caller, params, query, body }) {
          const given = body as z.output<B>;
          await callMapi(mapi, caller, {
            method: spec.method,
            path: fill(params),
            query: forward ? forward(query) : texts(query),
            body: schema ? Object(given) : emptyBody ? {} : undefined,
            resource: resource(params),
          });
          done?.(params, given);
          return Response.json(Object(result(params, given)), { status });
        },
      });
    },

    /** HEAD: 200 or 404, without a body. */
    exists(spec: Common): Operation {
      const { resource, storePath, path, ...described } = spec;
      const fill = pathFiller(storePath ?? path);
      return operation({
        ...described,
        method: "HEAD",
        path: PREFIX + path,
        params: parameters(path),
        responses: { 200: { description: "It is there" }, ...FAILURES },
        async handler({ caller, params }) {
          await callMapi(mapi, caller, {
            method: "HEAD",
            path: fill(params),
            resource: resource(params),
          });
          return new Response(null);
        },
      });
    },
  };
}

export type MapiOperations = ReturnType<typeof mapiOperations>;

/** What any management operation may return beside its success and what every operation may. */
export const FAILURES: Readonly<Record<number, ResponseSpec>> = {
  404: { description: "Not there, or not to be seen" },
  405: { description: "The store does not know this method for the resource" },
  409: { description: "It exists already, or something stands against the change" },
  414: { description: "The names in the path are too long" },
  415: { description: "The store did not take the body" },
};

/** What is read as an example: the embedded store's samples have most of it. */
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
 * What is changed as an example: nothing that the samples have, since the API page's "Execute" sends examples as they
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

/** A query that goes on as it is. */
function texts(query: Readonly<Record<string, unknown>>): StoreQuery {
  const texts: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") texts[name] = value;
  }
  return texts;
}
