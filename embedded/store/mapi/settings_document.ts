import type { z } from "zod";
import type { Tenant } from "@/embedded/store/accounts.ts";
import { type Document, mergedDocument } from "@/embedded/store/documents.ts";
import { parsed } from "./body_schema.ts";
import { isVerbose } from "./list_parameters.ts";
import { requireRight, type Right } from "./mapi_caller.ts";
import { type MapiRequest, permittedNamespace } from "./mapi_request.ts";

/** A settings document, of which a tenant or a namespace has one: read with GET, changed with POST. */
export interface SettingsDocument {
  /** Its path below the tenant or the namespace. */
  readonly kind: string;
  readonly schema: z.ZodType<Document>;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Who may read it, and who may change it. Owners of a namespace may do both, unless a special right is needed. */
  readonly read: Right;
  readonly write: Right;
  /** Members that cannot be set, shown in the verbose form. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /**
   * Checks the given members against the rest of the tenant.
   *
   * @throws {MapiError} 400
   */
  readonly check?: (given: Readonly<Document>, tenant: Tenant, request: MapiRequest) => void;
}

/** GET and HEAD of a tenant's document. */
export function readTenantDocument(definition: SettingsDocument, tenant: Tenant, request: MapiRequest): Response {
  requireRight(request.caller, definition.read);
  return documentResponse(definition, tenant, 0, request);
}

/** POST of a tenant's document: members that are not given stay as they are. */
export function changeTenantDocument(
  definition: SettingsDocument,
  tenant: Tenant,
  request: MapiRequest,
): Promise<Response> {
  requireRight(request.caller, definition.write);
  return changeDocument(definition, tenant, 0, request);
}

/** GET and HEAD of a namespace's document. */
export function readNamespaceDocument(
  definition: SettingsDocument,
  tenant: Tenant,
  name: string,
  request: MapiRequest,
): Response {
  return documentResponse(definition, tenant, permittedNamespace(tenant, name, request, definition.read).id, request);
}

/** POST of a namespace's document. */
export function changeNamespaceDocument(
  definition: SettingsDocument,
  tenant: Tenant,
  name: string,
  request: MapiRequest,
): Promise<Response> {
  if (definition.write !== "administer") requireRight(request.caller, definition.write);
  return changeDocument(definition, tenant, permittedNamespace(tenant, name, request, definition.write).id, request);
}

function documentResponse(
  { kind, defaults, fixed }: SettingsDocument,
  tenant: Tenant,
  bucket: number,
  request: MapiRequest,
) {
  const document = request.store.documents.document({ tenant: tenant.id, bucket, kind });
  return Response.json({
    ...mergedDocument(defaults, document ?? {}),
    ...(fixed && isVerbose(request.query) ? fixed : {}),
  });
}

async function changeDocument(
  definition: SettingsDocument,
  tenant: Tenant,
  bucket: number,
  request: MapiRequest,
): Promise<Response> {
  const document = parsed(definition.schema, await request.body());
  definition.check?.(document, tenant, request);
  await request.store.writer.change("setDocument", {
    tenant: tenant.id,
    bucket,
    kind: definition.kind,
    name: "",
    mode: "set",
    document,
  });
  return new Response(null);
}
