import type { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { StoreQuery } from "@/lib/mapi/records/fields.ts";
import type { namespaceTemplates } from "@/lib/mapi/records/namespace.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { isObject } from "@/lib/std/untrusted.ts";
import { callMapi, type Mapi, type MapiCall, mapiPath } from "./mapi_client.ts";

const NAMESPACE = "/tenants/{tenant}/namespaces/{name}";

/** Requests that one export has under way at the store. */
const AT_ONCE = 12;

/** Members that the store sets, which are no part of a template. */
const STORE_SET = new Set([
  "id",
  "name",
  "creationTime",
  "fullyQualifiedName",
  "nameIDNA",
  "dpl",
  "effectiveDpl",
  "isDplDynamic",
  "mqeIndexingTimestamp",
  "replicationTimestamp",
  "statistics",
  "chargebackReport",
]);

/** Members of a template and the sub-documents that they hold. */
const DOCUMENTS: readonly (readonly [member: string, path: string])[] = [
  ["versioning", "versioningSettings"],
  ["compliance", "complianceSettings"],
  ["permissions", "permissions"],
  ["indexing", "customMetadataIndexingSettings"],
  ["cors", "cors"],
  ["replicationCollision", "replicationCollisionSettings"],
];

const PROTOCOLS = ["http", "cifs", "nfs", "smtp"];

const SUB_DOCUMENTS = [
  ...DOCUMENTS.map(([, path]) => path),
  ...PROTOCOLS.map((protocol) => `protocols/${protocol}`),
  "retentionClasses",
];

type Json = Record<string, unknown>;

interface ExportOrder {
  readonly tenant: string;
  readonly names: readonly string[];
  /** ms since 1970 */
  readonly nowMs: number;
}

/**
 * Exports namespaces as templates for new ones, one after the other. Skips sub-documents that the store does not have, or
 * does not show to the caller. Sends at most 12 requests at once.
 *
 * @throws HttpError 404 where a namespace is absent, else as {@link callMapi}
 */
export async function exportNamespaces(
  mapi: Mapi,
  caller: Caller,
  { tenant, names, nowMs }: ExportOrder,
): Promise<z.output<typeof namespaceTemplates>> {
  const namespaces = [];
  for (const name of names) namespaces.push(await template(mapi, caller, tenant, name));
  const exportedAt = new Date(nowMs).toISOString().replace("Z", "000+00:00");
  return { version: "1.0", exportedAt, sourceTenant: tenant, namespaces };
}

async function template(mapi: Mapi, caller: Caller, tenant: string, name: string): Promise<Json & { name: string }> {
  const read = async (path: string, names: Record<string, string> = {}, query?: StoreQuery): Promise<Json> => {
    const at = mapiPath(NAMESPACE + path, { ...names, tenant, name });
    const resource = `namespace '${name}'`;
    const { body } = await callMapi(mapi, caller, { method: "GET", path: at, query, resource });
    return isObject(body) ? body : {};
  };
  const record = await read("", {}, { verbose: true });
  const found = new Map<string, Json>();
  await forEachConcurrent(SUB_DOCUMENTS, AT_ONCE, async (path) => {
    found.set(path, await orNothing(read(`/${path}`)));
  });
  const listed = found.get("retentionClasses")?.name;
  const classNames = Array.isArray(listed) ? listed.filter((one) => typeof one === "string") : [];
  const classes = new Map(classNames.map((one): [string, Json] => [one, {}]));
  await forEachConcurrent(classNames, AT_ONCE, async (one) => {
    classes.set(one, await orNothing(read("/retentionClasses/{one}", { one })));
  });
  const protocols = PROTOCOLS.map((protocol) => [protocol, found.get(`protocols/${protocol}`)]);
  const members = [
    ...DOCUMENTS.map(([member, path]) => [member, found.get(path)]),
    ["protocols", Object.fromEntries(protocols.filter(([, one]) => !isEmpty(one)))],
    ["retentionClasses", [...classes.values()].filter((one) => !isEmpty(one))],
  ];
  return {
    name,
    ...Object.fromEntries(Object.entries(record).filter(([member]) => !STORE_SET.has(member))),
    ...Object.fromEntries(members.filter(([, value]) => !isEmpty(value))),
  };
}

/** A sub-document, or nothing where the store has none or does not show it. */
async function orNothing(document: Promise<Json>): Promise<Json> {
  try {
    return await document;
  } catch (error) {
    if (error instanceof HttpError && [400, 403, 404, 405].includes(error.status)) return {};
    throw error;
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}

/**
 * Changes after which a namespace that counts as full without objects can be deleted. Each throws HttpError as
 * {@link callMapi}.
 */
export function namespaceRelease(mapi: Mapi, caller: Caller, tenant: string, name: string) {
  const send = async (method: "POST" | "DELETE", path: string, body?: MapiCall["body"]) => {
    const at = mapiPath(NAMESPACE + path, { tenant, name });
    await callMapi(mapi, caller, { method, path: at, body, resource: `namespace '${name}'` });
  };
  return {
    /** Lets the records of deleted objects go: versions are pruned at once, and no records are stored. */
    pruneAtOnce: () => send("POST", "/versioningSettings", { keepDeletionRecords: false, prune: true, pruneDays: 0 }),
    /** A searchable namespace keeps the records of deleted objects. */
    stopSearching: () => send("POST", "", { searchEnabled: false }),
    /** Deletes the namespace; 409 while it has objects or records. */
    remove: () => send("DELETE", ""),
  };
}
