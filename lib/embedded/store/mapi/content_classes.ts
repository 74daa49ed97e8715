import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import type { Document } from "@/lib/embedded/store/documents.ts";
import { names } from "@/lib/embedded/store/mapi/document_members.ts";
import { isVerbose, selected } from "@/lib/embedded/store/mapi/list_parameters.ts";
import { demand } from "@/lib/embedded/store/mapi/mapi_caller.ts";
import { absent, invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import { listAnswer, type MapiRequest } from "@/lib/embedded/store/mapi/mapi_request.ts";
import {
  boolean,
  className,
  type Member,
  type Members,
  oneOf,
  readMembers,
  record,
  text,
} from "@/lib/embedded/store/mapi/members.ts";

const KIND = "contentClasses";

/** Most properties of one class. */
const MAX_PROPERTIES = 1000;

const PROPERTY: Members = {
  name: propertyName,
  expression: text(1024, 1),
  type: oneOf("STRING", "INTEGER", "BOOLEAN", "DATE", "DATETIME", "FLOAT", "FULLTEXT"),
  multivalued: boolean,
  format: text(256),
};

const MEMBERS: Members = { contentProperties: properties, namespaces: names };

/** GET /tenants/{tenant}/contentClasses */
export function listContentClasses(tenant: Tenant, request: MapiRequest): Response {
  demand(request.caller, "read");
  const { store, query } = request;
  const records = store.documents.documents(place(tenant)).map((document) => shownRecord(tenant, document, request));
  return listAnswer("name", selected(records, query, "name"), isVerbose(query));
}

/** PUT /tenants/{tenant}/contentClasses */
export async function createContentClass(tenant: Tenant, request: MapiRequest): Promise<Response> {
  demand(request.caller, "comply");
  const given = await request.body();
  const name = className(given.name);
  await set(tenant, name, "create", { name, ...readClass(tenant, given, request) }, request);
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/contentClasses/{class} */
export function readContentClass(tenant: Tenant, name: string, request: MapiRequest): Response {
  demand(request.caller, "read");
  const document = request.store.documents.document(place(tenant), name);
  if (!document) throw absent(`content class ${name}`);
  return Response.json(shownRecord(tenant, document, request));
}

/** POST /tenants/{tenant}/contentClasses/{class}: each list that is given replaces the present one. */
export async function modifyContentClass(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  demand(request.caller, "comply");
  await set(tenant, name, "modify", readClass(tenant, await request.body(), request), request);
  return new Response(null);
}

/** DELETE /tenants/{tenant}/contentClasses/{class} */
export async function deleteContentClass(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  demand(request.caller, "comply");
  await request.store.writer.change("deleteDocument", { ...place(tenant), name });
  return new Response(null);
}

function place(tenant: Tenant) {
  return { tenant: tenant.id, bucket: 0, kind: KIND };
}

async function set(
  tenant: Tenant,
  name: string,
  mode: "create" | "modify",
  document: Document,
  { store }: MapiRequest,
): Promise<void> {
  await store.writer.change("setDocument", { ...place(tenant), name, mode, document });
}

/** A class as it is kept: namespaces by their GUIDs, so that they may be renamed. Throws 400. */
function readClass(tenant: Tenant, given: Readonly<Record<string, unknown>>, { store }: MapiRequest): Document {
  const { namespaces, ...rest } = readMembers(given, MEMBERS);
  if (!Array.isArray(namespaces)) return rest;
  const guids = namespaces.map((name) => {
    const bucket = store.buckets.bucket(tenant.id, String(name));
    if (!bucket) throw invalid("namespaces", "may name only namespaces of the tenant");
    return bucket.guid;
  });
  return { ...rest, namespaces: guids };
}

function shownRecord(tenant: Tenant, document: Document, { store }: MapiRequest): Document {
  const { namespaces } = document;
  const guids: readonly unknown[] = Array.isArray(namespaces) ? namespaces : [];
  const present = guids.length === 0 ? [] : store.buckets.ofTenant(tenant.id);
  return {
    contentProperties: [],
    ...document,
    namespaces: present.filter(({ guid }) => guids.includes(guid)).map(({ name }) => name),
  };
}

function properties(value: unknown, name: string): unknown {
  const wrapping = typeof value === "object" && value !== null && "contentProperty" in value;
  const list = wrapping ? value.contentProperty : value;
  if (!Array.isArray(list) || list.length > MAX_PROPERTIES) {
    throw invalid(name, `must be a list of at most ${MAX_PROPERTIES} properties`);
  }
  const known = list.map((entry) => record(PROPERTY)(entry, name) as Document);
  for (const property of known) {
    for (const one of ["name", "expression", "type"]) {
      if (property[one] === undefined) throw invalid(`${name}.${one}`, "is required");
    }
  }
  if (new Set(known.map((property) => property.name)).size < known.length) {
    throw invalid(`${name}.name`, "may be given once");
  }
  return known.map((property) => ({ multivalued: false, format: null, ...property }));
}

function propertyName(...[value, name]: Parameters<Member>): string {
  if (typeof value !== "string" || !/^[A-Za-z0-9_]{1,25}$/.test(value)) {
    throw invalid(name, "must have 1 to 25 letters, digits and underscores");
  }
  return value;
}
