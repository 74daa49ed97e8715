import { parseCorsRules } from "@/embedded/store/s3/cors_configuration.ts";
import { S3Error } from "@/embedded/store/s3/s3_error.ts";
import { requireRight } from "./mapi_caller.ts";
import { invalid, notFound } from "./mapi_error.ts";
import { readableNamespace, type TenantRequest } from "./mapi_request.ts";

/** GET and HEAD /tenants/{tenant}/cors: null where there are no rules. */
export function readTenantCors({ store, caller, tenant }: TenantRequest): Response {
  requireRight(caller, "read");
  return Response.json({ cors: store.accounts.cors(tenant.id) });
}

/** PUT /tenants/{tenant}/cors: the rules for the namespaces without rules of their own. */
export async function writeTenantCors({ store, caller, body, tenant }: TenantRequest): Promise<void> {
  requireRight(caller, "administer");
  await store.writer.change("setTenantCors", { tenant: tenant.id, cors: corsRules(await body()) });
}

/**
 * DELETE /tenants/{tenant}/cors
 *
 * @throws {MapiError} 404 where there are no rules
 */
export async function deleteTenantCors({ store, caller, tenant }: TenantRequest): Promise<void> {
  requireRight(caller, "administer");
  const { hadRules } = await store.writer.change("setTenantCors", { tenant: tenant.id, cors: null });
  if (!hadRules) throw notFound("cors");
}

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/cors: the namespace's own rules, null where it has none. */
export function readNamespaceCors(request: TenantRequest): Response {
  return Response.json({ cors: request.store.buckets.cors(readableNamespace(request).id) });
}

/** PUT /tenants/{tenant}/namespaces/{namespace}/cors: instead of the tenant's rules, completely. */
export async function writeNamespaceCors(request: TenantRequest): Promise<void> {
  requireRight(request.caller, "administer");
  const bucket = readableNamespace(request).id;
  await request.store.writer.change("setBucketCors", { bucket, cors: corsRules(await request.body()) });
}

/**
 * DELETE /tenants/{tenant}/namespaces/{namespace}/cors
 *
 * @throws {MapiError} 404 where it has no rules of its own
 */
export async function deleteNamespaceCors(request: TenantRequest): Promise<void> {
  requireRight(request.caller, "administer");
  const bucket = readableNamespace(request).id;
  const { hadRules } = await request.store.writer.change("setBucketCors", { bucket, cors: null });
  if (!hadRules) throw notFound("cors");
}

/**
 * The XML of a body such as `{"cors": "<CORSConfiguration>…"}`, stored unchanged.
 *
 * @throws {MapiError} 400
 */
function corsRules({ cors }: Record<string, unknown>): string {
  if (typeof cors !== "string") throw invalid("cors", "must be a string with a CORSConfiguration in XML");
  try {
    parseCorsRules(cors);
  } catch (error) {
    if (error instanceof S3Error) throw invalid("cors", `is not valid: ${error.message}`);
    throw error;
  }
  return cors;
}
