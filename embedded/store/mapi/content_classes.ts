import type { z } from "zod";
import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Document } from "@/embedded/store/documents.ts";
import { boolean, className, listed, members, names, oneOf, parsed, pathName, text } from "./body_schema.ts";
import { isVerbose, selected } from "./list_parameters.ts";
import { requireRight } from "./mapi_caller.ts";
import { conflicting, notFound } from "./mapi_error.ts";
import { listResponse, type MapiRequest } from "./mapi_request.ts";

const KIND = "contentClasses";

/** Most properties of one class. */
const MAX_PROPERTIES = 1000;

const property = members({ multivalued: boolean, format: text(256) }, {
  name: pathName(/^[A-Za-z0-9_]{1,25}$/, "must have 1 to 25 letters, digits and underscores"),
  expression: text(1024, 1),
  type: oneOf("STRING", "INTEGER", "BOOLEAN", "DATE", "DATETIME", "FLOAT", "FULLTEXT"),
});

const contentProperties = listed("contentProperty", property, MAX_PROPERTIES)
  .transform((all) => all.map((one) => ({ multivalued: false, format: null, ...one })))
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "may have each name once");

const CHANGE = members({ contentProperties, namespaces: names });

const NEW = members({ contentProperties, namespaces: names }, { name: className });

/** GET /tenants/{tenant}/contentClasses */
export function listContentClasses(tenant: Tenant, request: MapiRequest): Response {
  requireRight(request.caller, "read");
  const { store, query } = request;
  const records = store.documents.documents(scope(tenant)).map((document) => publicRecord(tenant, document, request));
  return listResponse("name", selected(records, query, "name"), isVerbose(query));
}

/** PUT /tenants/{tenant}/contentClasses */
export async function createContentClass(tenant: Tenant, request: MapiRequest): Promise<Response> {
  requireRight(request.caller, "comply");
  const given = parsed(NEW, await request.body());
  await set(tenant, given.name, "create", given, request);
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/contentClasses/{class} */
export function readContentClass(tenant: Tenant, name: string, request: MapiRequest): Response {
  requireRight(request.caller, "read");
  const document = request.store.documents.document(scope(tenant), name);
  if (!document) throw notFound(`content class ${name}`);
  return Response.json(publicRecord(tenant, document, request));
}

/** POST /tenants/{tenant}/contentClasses/{class}: each list that is given replaces the present one. */
export async function modifyContentClass(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  requireRight(request.caller, "comply");
  await set(tenant, name, "modify", parsed(CHANGE, await request.body()), request);
  return new Response(null);
}

/** DELETE /tenants/{tenant}/contentClasses/{class} */
export async function deleteContentClass(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  requireRight(request.caller, "comply");
  await request.store.writer.change("deleteDocument", { ...scope(tenant), name });
  return new Response(null);
}

function scope(tenant: Tenant) {
  return { tenant: tenant.id, bucket: 0, kind: KIND };
}

/**
 * Stores a class, with its namespaces by their GUIDs, so that they may be renamed.
 *
 * @throws {MapiError} 400
 */
async function set(
  tenant: Tenant,
  name: string,
  mode: "create" | "modify",
  { namespaces, ...rest }: z.output<typeof CHANGE>,
  { store }: MapiRequest,
): Promise<void> {
  const guids = namespaces?.map((namespace) => {
    const bucket = store.buckets.bucket(tenant.id, namespace);
    if (!bucket) throw conflicting("namespaces", "may name only namespaces of the tenant");
    return bucket.guid;
  });
  const document = guids ? { ...rest, namespaces: guids } : rest;
  await store.writer.change("setDocument", { ...scope(tenant), name, mode, document });
}

function publicRecord(tenant: Tenant, document: Document, { store }: MapiRequest): Document {
  const { namespaces } = document;
  const guids: readonly unknown[] = Array.isArray(namespaces) ? namespaces : [];
  const present = guids.length === 0 ? [] : store.buckets.ofTenant(tenant.id);
  return {
    contentProperties: [],
    ...document,
    namespaces: present.filter(({ guid }) => guids.includes(guid)).map(({ name }) => name),
  };
}
