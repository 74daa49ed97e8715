import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import { parseCorsRules } from "@/embedded/store/s3/cors_configuration.ts";
import { S3Error } from "@/embedded/store/s3/s3_error.ts";
import { requireRight } from "./mapi_caller.ts";
import { invalid, notFound } from "./mapi_error.ts";
import type { MapiRequest } from "./mapi_request.ts";

/** GET and HEAD /tenants/{tenant}/cors: null where there are no rules. */
export function readTenantCors(tenant: Tenant, { store, caller }: MapiRequest): Response {
  requireRight(caller, "read");
  return Response.json({ cors: store.accounts.cors(tenant.id) });
}

/** PUT /tenants/{tenant}/cors: the rules for the namespaces without rules of their own. */
export async function writeTenantCors(tenant: Tenant, { store, caller, body }: MapiRequest): Promise<Response> {
  requireRight(caller, "administer");
  await store.writer.change("setTenantCors", { tenant: tenant.id, cors: givenRules(await body()) });
  return new Response(null);
}

/**
 * DELETE /tenants/{tenant}/cors
 *
 * @throws {MapiError} 404 where there are no rules
 */
export async function deleteTenantCors(tenant: Tenant, { store, caller }: MapiRequest): Promise<Response> {
  requireRight(caller, "administer");
  const { hadRules } = await store.writer.change("setTenantCors", { tenant: tenant.id, cors: null });
  if (!hadRules) throw notFound("cors");
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/namespaces/{namespace}/cors: the namespace's own rules, null where it has none. */
export function readNamespaceCors(tenant: Tenant, name: string, { store, caller }: MapiRequest): Response {
  const bucket = store.buckets.bucket(tenant.id, name);
  if (bucket?.owner !== caller.user.id) requireRight(caller, "read");
  return Response.json({ cors: store.buckets.cors(found(bucket, name).id) });
}

/** PUT /tenants/{tenant}/namespaces/{namespace}/cors: instead of the tenant's rules, completely. */
export async function writeNamespaceCors(
  tenant: Tenant,
  name: string,
  { store, caller, body }: MapiRequest,
): Promise<Response> {
  requireRight(caller, "administer");
  const bucket = found(store.buckets.bucket(tenant.id, name), name);
  await store.writer.change("setBucketCors", { bucket: bucket.id, cors: givenRules(await body()) });
  return new Response(null);
}

/**
 * DELETE /tenants/{tenant}/namespaces/{namespace}/cors
 *
 * @throws {MapiError} 404 where it has no rules of its own
 */
export async function deleteNamespaceCors(
  tenant: Tenant,
  name: string,
  { store, caller }: MapiRequest,
): Promise<Response> {
  requireRight(caller, "administer");
  const bucket = found(store.buckets.bucket(tenant.id, name), name);
  const { hadRules } = await store.writer.change("setBucketCors", { bucket: bucket.id, cors: null });
  if (!hadRules) throw notFound("cors");
  return new Response(null);
}

function found(bucket: Bucket | null, name: string): Bucket {
  if (!bucket) throw notFound(`namespace ${name}`);
  return bucket;
}

/**
 * The XML of a body such as `{"cors": "<CORSConfiguration>…"}`, stored unchanged.
 *
 * @throws {MapiError} 400
 */
function givenRules({ cors }: Record<string, unknown>): string {
  if (typeof cors !== "string") throw invalid("cors", "must be a string with a CORSConfiguration in XML");
  try {
    parseCorsRules(cors);
  } catch (error) {
    if (error instanceof S3Error) throw invalid("cors", `is not valid: ${error.message}`);
    throw error;
  }
  return cors;
}
