import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import { dataAccessPermissions, dataAccessPermissionsUpdate } from "@/lib/mapi/records/accounts.ts";
import { listQuery, verboseQuery } from "@/lib/mapi/records/fields.ts";
import { chargebackQuery, chargebackReport, statistics } from "@/lib/mapi/records/namespace.ts";
import { cors, corsUpdate } from "@/lib/mapi/records/tenant.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import type { MapiOperations, Names } from "./mapi_operations.ts";

/** The responses to changes, schema and value: the store sends no body, so these are ours. */
export function statusAlone<const S extends string>(status: S, id: string) {
  return { schema: z.object({ status: z.literal(status) }).meta({ id }), result: () => ({ status }) };
}

const UPDATED = statusAlone("updated", "Updated");
const DELETED = statusAlone("deleted", "Deleted");

/** The response to a creation, which repeats a name of the body or of the path; null where neither has it. */
export function created(id: string, member: string, from = member, type: z.ZodType = z.string()) {
  return {
    schema: z.object({ status: z.literal("created"), [member]: type }).meta({ id }),
    result: (names: Names, body: unknown) => ({
      status: "created" as const,
      [member]: Object(body)[from] ?? names[from] ?? null,
    }),
  };
}

export const CREATED = created("Created", "name");

/** A kind of records of the store: their list, to which new ones are added, and each of them by its name. */
interface RecordKind {
  readonly tag: string;
  /** One of them and several, such as `user account` and `user accounts`: operations are called after them. */
  readonly nouns: readonly [one: string, several: string];
  /** Path of the list. */
  readonly path: string;
  /** The parameter with the name of one of them. */
  readonly parameter: string;
  /** The word for one of them in errors, before its name; absent: its noun. */
  readonly label?: string;
  /** Summaries of operations of which more is to be said. */
  readonly summaries?: Partial<Record<"list" | "create" | "get" | "delete", string>>;
}

/** The operations on a kind of records, as far as they follow from what the kind is. */
export function recordKind({ tag, nouns: [one, several], path, parameter, label = one, summaries }: RecordKind) {
  const [id, ids] = [one, several].map((noun) => noun.replaceAll(" ", "_"));
  const resource = (names: Names) => `${label} '${names[parameter]}'`;
  const list = { path, tag };
  const record = { path: `${path}/{${parameter}}`, tag, resource };
  return {
    record,
    list: {
      id: `list_${ids}`,
      ...list,
      summary: summaries?.list ?? `List ${several}`,
      resource: () => several,
      query: listQuery,
    },
    create: {
      id: `create_${id}`,
      method: "PUT",
      ...list,
      summary: summaries?.create ?? `Create a ${one}`,
      resource: () => one,
    },
    get: { id: `get_${id}`, ...record, summary: summaries?.get ?? `Get a ${one}`, query: verboseQuery },
    head: { id: `head_${id}`, ...record, summary: `Check whether a ${one} exists` },
    update: { id: `update_${id}`, method: "POST", ...record, summary: `Change a ${one}`, ...UPDATED },
    delete: {
      id: `delete_${id}`,
      method: "DELETE",
      ...record,
      summary: summaries?.delete ?? `Delete a ${one}`,
      ...DELETED,
    },
  } as const;
}

/** Where the documents and reports of a tenant or a namespace belong. */
export interface Family {
  /** Path of the tenant or the namespace. */
  readonly base: string;
  readonly tag: string;
  readonly resource: (names: Names) => string;
  /** The action under which changes of its documents are recorded. */
  readonly audit: AuditAction;
}

/** A settings document: read with GET, changed with POST. */
export interface Document {
  /** Its name in operation ids, with what stands before it, such as `tenant_contact_info`. */
  readonly id: string;
  /** Below the path of its family. */
  readonly path: string;
  /** Its content, as written after "Read" or "Change". */
  readonly what: string;
  /** The action under which its change is recorded; that of its family when absent. */
  readonly audit?: AuditAction;
  readonly schema: z.ZodType;
  readonly update: z.ZodType;
  readonly query?: z.ZodObject;
}

/** GET and POST of each document. */
export function documentOperations(
  { read, write }: MapiOperations,
  { base, tag, resource, audit: ofFamily }: Family,
  documents: readonly Document[],
): Operation[] {
  return documents.flatMap(({ id, path, what, audit = ofFamily, schema, update: body, query }) => {
    const document = { path: base + path, tag, resource };
    return [
      read({ id: `get_${id}`, ...document, summary: `Read ${what}`, schema, query }),
      write({ id: `update_${id}`, method: "POST", ...document, summary: `Change ${what}`, audit, body, ...UPDATED }),
    ];
  });
}

/** DELETE of a document, which returns to what holds without it. */
export function deletion(path: string, id: string, summary: string, { base, ...family }: Family) {
  return { id, method: "DELETE", path: base + path, summary, ...family, ...DELETED } as const;
}

/** GET, PUT and DELETE of the CORS rules of a tenant or a namespace, which are one XML text. */
export function corsOperations(
  { read, write }: MapiOperations,
  family: Family,
  of: "tenant" | "namespace",
): Operation[] {
  const { base, tag, resource, audit } = family;
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
      ...(of === "tenant" ? created("TenantCorsSet", of, "tenant_name") : created("NamespaceCorsSet", of, "ns")),
    }),
    write({
      ...deletion("/cors", `delete_${of}_cors`, "Remove the CORS rules", family),
      // The store also says 404 where the tenant or namespace is there, and has no rules.
      resource: (names) => `CORS rules of ${resource(names)}`,
    }),
  ];
}

/** Room for as many namespaces as a tenant can have, with every permission each, so that their number is what is refused. */
const MAX_PERMISSIONS_BYTES = 4 * 1024 * 1024;

/** The permissions of a user or group in the tenant's namespaces. */
export function permissionOperations(
  { read, write }: MapiOperations,
  of: "user" | "group",
  { path, ...account }: Pick<Family, "tag" | "resource"> & { readonly path: string },
): Operation[] {
  const permissions = { ...account, path: `${path}/dataAccessPermissions` };
  return [
    read({
      id: `get_${of}_data_access_permissions`,
      ...permissions,
      summary: `Get a ${of}'s data access permissions`,
      query: listQuery,
      schema: dataAccessPermissions,
    }),
    write({
      id: `update_${of}_data_access_permissions`,
      method: "POST",
      ...permissions,
      summary: `Set data access permissions of a ${of} in the given namespaces`,
      body: dataAccessPermissionsUpdate,
      limitBytes: MAX_PERMISSIONS_BYTES,
      audit: "permissions_change",
      ...UPDATED,
    }),
  ];
}

/** Statistics and charges of a tenant or a namespace, for those with the role MONITOR. */
export function statisticsOperations(
  { read }: MapiOperations,
  of: "tenant" | "namespace",
  { base, resource }: Pick<Family, "base" | "resource">,
): Operation[] {
  const report = { tag: of === "tenant" ? "Tenant Admin: Statistics" : "Namespace: Statistics", resource };
  return [
    read({
      id: `get_${of}_statistics`,
      path: `${base}/statistics`,
      ...report,
      summary: `Get storage statistics of the ${of}`,
      schema: statistics,
    }),
    read({
      id: `get_${of}_chargeback_report`,
      path: `${base}/chargebackReport`,
      ...report,
      summary: `Get the chargeback report of the ${of}`,
      query: chargebackQuery,
      schema: chargebackReport,
    }),
  ];
}
