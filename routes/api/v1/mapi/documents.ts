import type { z } from "zod";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { cors, corsUpdate } from "@/lib/mapi/records/tenant_settings.ts";
import { DELETED, UPDATED } from "./change_results.ts";
import type { MapiOperations } from "./mapi_operations.ts";

/** A settings document: read with GET, changed with POST. */
export interface Document {
  /** Its name in operation ids, with what stands before it, such as `tenant_contact_info`. */
  readonly id: string;
  /** Below the path of its family. */
  readonly path: string;
  /** What it holds, after "Read" or "Change". */
  readonly what: string;
  /** The action under which its change is recorded; that of its family when absent. */
  readonly audit?: AuditAction;
  readonly schema: z.ZodType;
  readonly update: z.ZodType;
  readonly query?: z.ZodObject;
}

/** Where a family of documents belongs. */
export interface Family {
  /** Path of the tenant or the namespace. */
  readonly base: string;
  readonly tag: string;
  readonly resource: (names: Readonly<Record<string, string>>) => string;
  /** The action under which changes of its documents are recorded. */
  readonly audit: AuditAction;
}

/** GET and POST of each document. */
export function documentOperations(
  { read, write }: MapiOperations,
  { base, tag, resource, audit: ofFamily }: Family,
  documents: readonly Document[],
): Operation[] {
  return documents.flatMap(({ id, path, what, audit = ofFamily, schema, update, query }) => {
    const document = { path: base + path, tag, resource };
    return [
      read({ id: `get_${id}`, ...document, summary: `Read ${what}`, schema, query }),
      write({
        id: `update_${id}`,
        method: "POST",
        ...document,
        summary: `Change ${what}`,
        audit,
        body: update,
        ...UPDATED,
      }),
    ];
  });
}

/** GET, PUT and DELETE of the CORS rules of a tenant or a namespace, which are one XML text. */
export function corsOperations<A extends z.ZodType>(
  { read, write }: MapiOperations,
  { base, tag, resource, audit }: Family,
  of: "tenant" | "namespace",
  set: {
    readonly status: 201;
    readonly schema: A;
    readonly result: (names: Readonly<Record<string, string>>) => z.input<A>;
  },
): Operation[] {
  const rules = { path: `${base}/cors`, tag, resource };
  return [
    read({ id: `get_${of}_cors`, ...rules, summary: "Read the CORS rules", schema: cors }),
    write({
      id: `set_${of}_cors`,
      method: "PUT",
      ...rules,
      summary: "Set the CORS rules",
      audit,
      body: corsUpdate,
      ...set,
    }),
    write({
      id: `delete_${of}_cors`,
      method: "DELETE",
      ...rules,
      summary: "Remove the CORS rules",
      audit,
      // The store also says 404 where the tenant or namespace is there, and has no rules.
      resource: (names) => `CORS rules of ${resource(names)}`,
      ...DELETED,
    }),
  ];
}
