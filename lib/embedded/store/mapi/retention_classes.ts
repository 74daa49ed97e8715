import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import { retention } from "@/lib/embedded/store/mapi/document_members.ts";
import { isVerbose, selected } from "@/lib/embedded/store/mapi/list_parameters.ts";
import { demand } from "@/lib/embedded/store/mapi/mapi_caller.ts";
import { absent, invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import { listAnswer, type MapiRequest } from "@/lib/embedded/store/mapi/mapi_request.ts";
import { boolean, className, type Members, readMembers, text } from "@/lib/embedded/store/mapi/members.ts";
import { permittedNamespace } from "@/lib/embedded/store/mapi/permitted_namespace.ts";

const MEMBERS: Members = { value: retention(false), description: text(1024), allowDisposition: boolean };

const DEFAULTS = { description: "", allowDisposition: false };

/** GET /tenants/{tenant}/namespaces/{namespace}/retentionClasses */
export function listRetentionClasses(tenant: Tenant, namespace: string, request: MapiRequest): Response {
  const records = request.store.documents.documents(place(tenant, namespace, request));
  return listAnswer("name", selected(records, request.query, "name"), isVerbose(request.query));
}

/** PUT /tenants/{tenant}/namespaces/{namespace}/retentionClasses */
export async function createRetentionClass(tenant: Tenant, namespace: string, request: MapiRequest): Promise<Response> {
  demand(request.caller, "comply");
  const at = place(tenant, namespace, request);
  const given = await request.body();
  const name = className(given.name);
  const settings = readMembers(given, MEMBERS);
  if (settings.value === undefined) throw invalid("value", "is required");
  const document = { name, ...DEFAULTS, ...settings };
  await request.store.writer.change("setDocument", { ...at, name, mode: "create", document });
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/retentionClasses/{class} */
export function readRetentionClass(tenant: Tenant, namespace: string, name: string, request: MapiRequest): Response {
  const document = request.store.documents.document(place(tenant, namespace, request), name);
  if (!document) throw absent(`retention class ${name}`);
  return Response.json(document);
}

/** POST /tenants/{tenant}/namespaces/{namespace}/retentionClasses/{class} */
export async function modifyRetentionClass(
  tenant: Tenant,
  namespace: string,
  name: string,
  request: MapiRequest,
): Promise<Response> {
  demand(request.caller, "comply");
  const at = place(tenant, namespace, request);
  const document = readMembers(await request.body(), MEMBERS);
  await request.store.writer.change("setDocument", { ...at, name, mode: "modify", document });
  return new Response(null);
}

/** DELETE /tenants/{tenant}/namespaces/{namespace}/retentionClasses/{class} */
export async function deleteRetentionClass(
  tenant: Tenant,
  namespace: string,
  name: string,
  request: MapiRequest,
): Promise<Response> {
  demand(request.caller, "comply");
  await request.store.writer.change("deleteDocument", { ...place(tenant, namespace, request), name });
  return new Response(null);
}

function place(tenant: Tenant, namespace: string, request: MapiRequest) {
  return {
    tenant: tenant.id,
    bucket: permittedNamespace(tenant, namespace, request, "read").id,
    kind: "retentionClasses",
  };
}
