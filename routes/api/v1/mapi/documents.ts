import type { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import { cors, corsUpdate } from "@/lib/mapi/records/tenant_settings.ts";
import { DELETED, UPDATED } from "./answers.ts";
import type { MapiOperations } from "./mapi_operations.ts";

/** A settings document: read with GET, changed with POST. */
export interface Document {
  /** Its name in operation ids, with what stands before it, such as `tenant_contact_info`. */
  readonly id: string;
  readonly path: string;
  /** What it holds, after "Read" or "Change". */
  readonly what: string;
  readonly schema: z.ZodType;
  readonly update: z.ZodType;
  readonly query?: z.ZodObject;
}

/** Where a family of documents belongs. */
export interface Family {
  readonly tag: string;
  readonly resource: (names: Readonly<Record<string, string>>) => string;
}

/** GET and POST of each document. */
export function documentOperations(
  { read, write }: MapiOperations,
  { tag, resource }: Family,
  documents: readonly Document[],
): Operation[] {
  return documents.flatMap(({ id, path, what, schema, update, query }) => [
    read({ id: `get_${id}`, path, tag, summary: `Read ${what}`, resource, schema, query }),
    write({
      id: `update_${id}`,
      method: "POST",
      path,
      tag,
      summary: `Change ${what}`,
      resource,
      body: update,
      ...UPDATED,
    }),
  ]);
}

/** GET, PUT and DELETE of CORS rules, which are one XML text. */
export function corsOperations<A extends z.ZodType>(
  { read, write }: MapiOperations,
  { tag, resource }: Family,
  { path, of, set }: {
    readonly path: string;
    /** `tenant` or `namespace`, for the operations' names. */
    readonly of: string;
    readonly set: {
      readonly status: 201;
      readonly schema: A;
      readonly answer: (names: Readonly<Record<string, string>>) => z.input<A>;
    };
  },
): Operation[] {
  return [
    read({ id: `get_${of}_cors`, path, tag, summary: "Read the CORS rules", resource, schema: cors }),
    write({
      id: `set_${of}_cors`,
      method: "PUT",
      path,
      tag,
      summary: "Set the CORS rules",
      resource,
      body: corsUpdate,
      ...set,
    }),
    write({
      id: `delete_${of}_cors`,
      method: "DELETE",
      path,
      tag,
      summary: "Remove the CORS rules",
      // The store also says 404 where the tenant or namespace is there, and has no rules.
      resource: (names) => `CORS rules of ${resource(names)}`,
      ...DELETED,
    }),
  ];
}
