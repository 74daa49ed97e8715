import { z } from "zod";
import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Changes } from "@/embedded/store/changes.ts";
import { permissionMask, PERMISSIONS, permissionsOf } from "@/embedded/store/permissions.ts";
import { list, MAX_NAMES, members, oneOf, parsed, rule, wrapped } from "./body_schema.ts";
import { presentGroup } from "./groups.ts";
import { selected } from "./list_parameters.ts";
import { requireRight } from "./mapi_caller.ts";
import { conflicting, invalid, notFound } from "./mapi_error.ts";
import type { MapiRequest } from "./mapi_request.ts";

const GRANTS = members({}, {
  namespacePermission: list(
    members({}, {
      namespaceName: z.string(rule("must be a string")),
      permissions: wrapped("permission", oneOf(...PERMISSIONS)),
    }),
    MAX_NAMES,
  ),
});

type Grants = Changes["setGrants"]["given"]["grants"];

/** GET /tenants/{tenant}/userAccounts/{user}/dataAccessPermissions: with the right to read, or one's own. */
export function readUserPermissions(tenant: Tenant, name: string, request: MapiRequest): Response {
  const { store, caller } = request;
  const user = store.accounts.user(tenant.id, name);
  if (user?.id !== caller.user.id) requireRight(caller, "read");
  if (!user) throw notFound(`user ${name}`);
  return permissionsResponse(tenant, store.buckets.grantsTo(user.id), request);
}

/** POST /tenants/{tenant}/userAccounts/{user}/dataAccessPermissions: replaces those in the named namespaces. */
export async function changeUserPermissions(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  const { store, caller } = request;
  requireRight(caller, "administer");
  const user = store.accounts.user(tenant.id, name);
  if (!user) throw notFound(`user ${name}`);
  await store.writer.change("setGrants", { to: { user: user.id }, grants: await readGrants(tenant, request) });
  return new Response(null);
}

/** GET /tenants/{tenant}/groupAccounts/{group}/dataAccessPermissions */
export function readGroupPermissions(tenant: Tenant, name: string, request: MapiRequest): Response {
  requireRight(request.caller, "read");
  return permissionsResponse(
    tenant,
    request.store.buckets.grantsToGroup(presentGroup(tenant, name, request).id),
    request,
  );
}

/** POST /tenants/{tenant}/groupAccounts/{group}/dataAccessPermissions: replaces those in the named namespaces. */
export async function changeGroupPermissions(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  requireRight(request.caller, "administer");
  const { id } = presentGroup(tenant, name, request);
  await request.store.writer.change("setGrants", { to: { group: id }, grants: await readGrants(tenant, request) });
  return new Response(null);
}

function permissionsResponse(
  tenant: Tenant,
  masks: ReadonlyMap<number, number>,
  { store, query }: MapiRequest,
): Response {
  const records = store.buckets.ofTenant(tenant.id).flatMap(({ id, name, record }) => {
    const mask = masks.get(id);
    return mask === undefined ? [] : [{ name, hardQuota: record.hardQuota, mask }];
  });
  const namespacePermission = selected(records, query, "name").map(({ name, mask }) => ({
    namespaceName: name,
    permissions: { permission: permissionsOf(mask) },
  }));
  return Response.json({ namespacePermission });
}

/**
 * The grants of a body, with the permissions that they imply.
 *
 * @throws {MapiError} 400, 409 for an absent namespace
 */
async function readGrants(tenant: Tenant, { store, body }: MapiRequest): Promise<Grants> {
  const { namespacePermission } = parsed(GRANTS, await body());
  const masks = new Map<number, number>();
  for (const { namespaceName, permissions } of namespacePermission) {
    const bucket = store.buckets.bucket(tenant.id, namespaceName);
    if (!bucket) throw conflicting("namespaceName", "must be that of a namespace of the tenant");
    if (masks.has(bucket.id)) throw invalid("namespaceName", "may be given once");
    masks.set(bucket.id, permissionMask(permissions.permission));
  }
  return [...masks].map(([bucket, permissions]) => ({ bucket, permissions }));
}
