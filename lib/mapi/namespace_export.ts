import type { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { namespaceTemplates } from "@/lib/mapi/records/namespace.ts";
import type { StoreQuery } from "@/lib/mapi/records/lists.ts";
import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { isObject } from "@/lib/std/is_object.ts";
import { callMapi, type Mapi, type MapiPath, mapiPath, pathFiller } from "./client.ts";

/** Requests that one export has under way at the store. */
const AT_ONCE = 12;

/** What a new namespace gets from the store, and so is no part of a template. */
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

/**
 * Namespaces as templates for new ones. Sub-documents that the store does not have, or does not show to the caller,
 * are left out; at most 12 requests are under way at once.
 *
 * @param nowMs ms since 1970
 * @throws HttpError 404 where a namespace is absent, else as {@link callMapi}
 */
export async function exportNamespaces(
  mapi: Mapi,
  caller: Caller,
  tenant: string,
  names: readonly string[],
  nowMs: number,
): Promise<z.output<typeof namespaceTemplates>> {
  const read = (name: string, path: MapiPath, query?: StoreQuery) => readDocument(mapi, caller, { name, path, query });
  const templates = names.map((name) => ({ name, record: {} as Json, found: new Map<string, unknown>() }));
  await forEachConcurrent(templates, AT_ONCE, async (template) => {
    const { name } = template;
    template.record = await read(name, mapiPath`/tenants/${tenant}/namespaces/${name}`, { verbose: true });
  });
  const rest = templates.flatMap((template) => SUB_DOCUMENTS.map((path) => ({ template, path })));
  await forEachConcurrent(rest, AT_ONCE, async ({ template: { name, found }, path }) => {
    const at = pathFiller(`/tenants/{tenant}/namespaces/{name}/${path}`)({ tenant, name });
    found.set(path, await orNothing(read(name, at)));
  });
  const classes = templates.flatMap((template) => classNames(template.found).map((one) => ({ template, one })));
  await forEachConcurrent(classes, AT_ONCE, async ({ template: { name, found }, one }) => {
    const at = mapiPath`/tenants/${tenant}/namespaces/${name}/retentionClasses/${one}`;
    found.set(classKey(one), await orNothing(read(name, at)));
  });
  return {
    version: "1.0",
    exportedAt: new Date(nowMs).toISOString().replace("Z", "000+00:00"),
    sourceTenant: tenant,
    namespaces: templates.map(({ name, record, found }) => templateOf(name, record, found)),
  };
}

async function readDocument(
  mapi: Mapi,
  caller: Caller,
  { name, ...call }: { name: string; path: MapiPath; query?: StoreQuery },
): Promise<Json> {
  const { body } = await callMapi(mapi, caller, { method: "GET", ...call, resource: `namespace '${name}'` });
  return isObject(body) ? body : {};
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

function templateOf(name: string, record: Json, found: ReadonlyMap<string, unknown>): Json & { name: string } {
  const members = Object.entries(record).filter(([member]) => !STORE_SET.has(member));
  const documents = DOCUMENTS.map(([member, path]) => [member, found.get(path)]);
  const protocols = Object.fromEntries(
    PROTOCOLS.map((protocol) => [protocol, found.get(`protocols/${protocol}`)]).filter(([, value]) => !isEmpty(value)),
  );
  const retentionClasses = classNames(found).map((name) => found.get(classKey(name))).filter((one) => !isEmpty(one));
  const further = [...documents, ["protocols", protocols], ["retentionClasses", retentionClasses]];
  return {
    name,
    ...Object.fromEntries(members),
    ...Object.fromEntries(further.filter(([, value]) => !isEmpty(value))),
  };
}

function classNames(found: ReadonlyMap<string, unknown>): string[] {
  const list = found.get("retentionClasses");
  const names = isObject(list) && Array.isArray(list.name) ? list.name : [];
  return names.filter((name) => typeof name === "string");
}

function classKey(name: string): string {
  return `retentionClasses/${name}`;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !isObject(value) || Object.keys(value).length === 0;
}
