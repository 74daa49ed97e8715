import { z } from "zod";
import type { Tenant } from "@/embedded/store/accounts.ts";
import { boolean, className, members, parsed, rule, text } from "./body_schema.ts";
import { isVerbose, selected } from "./list_parameters.ts";
import { requireRight } from "./mapi_caller.ts";
import { notFound } from "./mapi_error.ts";
import { listResponse, type MapiRequest, permittedNamespace } from "./mapi_request.ts";

const DURATION =
  /^(?:0|-1|-2|[RANC]?(?:[+-]\d{1,6}[yMwdhms])+|\d{4}-\d{2}-\d{2}(?:T[\d:]{5,8}(?:Z|[+-]\d{2}:?\d{2})?)?)$/;

const SETTINGS = { description: text(1024), allowDisposition: boolean };

const NEW = members(SETTINGS, { name: className, value: retention(false) });

const CHANGE = members({ ...SETTINGS, value: retention(false) });

const DEFAULTS = { description: "", allowDisposition: false };

/** GET /tenants/{tenant}/namespaces/{namespace}/retentionClasses */
export function listRetentionClasses(tenant: Tenant, namespace: string, request: MapiRequest): Response {
  const records = request.store.documents.documents(scope(tenant, namespace, request));
  return listResponse("name", selected(records, request.query, "name"), isVerbose(request.query));
}

/** PUT /tenants/{tenant}/namespaces/{namespace}/retentionClasses */
export async function createRetentionClass(tenant: Tenant, namespace: string, request: MapiRequest): Promise<Response> {
  requireRight(request.caller, "comply");
  const at = scope(tenant, namespace, request);
  const document = { ...DEFAULTS, ...parsed(NEW, await request.body()) };
  await request.store.writer.change("setDocument", { ...at, name: document.name, mode: "create", document });
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/retentionClasses/{class} */
export function readRetentionClass(tenant: Tenant, namespace: string, name: string, request: MapiRequest): Response {
  const document = request.store.documents.document(scope(tenant, namespace, request), name);
  if (!document) throw notFound(`retention class ${name}`);
  return Response.json(document);
}

/** POST /tenants/{tenant}/namespaces/{namespace}/retentionClasses/{class} */
export async function modifyRetentionClass(
  tenant: Tenant,
  namespace: string,
  name: string,
  request: MapiRequest,
): Promise<Response> {
  requireRight(request.caller, "comply");
  const at = scope(tenant, namespace, request);
  const document = parsed(CHANGE, await request.body());
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
  requireRight(request.caller, "comply");
  await request.store.writer.change("deleteDocument", { ...scope(tenant, namespace, request), name });
  return new Response(null);
}

/** How long objects are retained: 0, -1, -2, an offset such as `A+7y`, a date, or `C+` and a class where that is allowed. */
export function retention(allowsClass: boolean) {
  const requirement = `must be 0, -1, -2, a date, an offset such as A+7y${allowsClass ? " or C+ and a class" : ""}`;
  return z.string(rule(requirement)).refine(
    (value) => DURATION.test(value) || (allowsClass && /^C\+.{1,64}$/.test(value)),
    requirement,
  );
}

function scope(tenant: Tenant, namespace: string, request: MapiRequest) {
  return {
    tenant: tenant.id,
    bucket: permittedNamespace(tenant, namespace, request, "read").id,
    kind: "retentionClasses",
  };
}
