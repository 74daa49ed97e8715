import { z } from "zod";
import type { Input } from "@/embedded/store/changes.ts";
import { permissionMask, PERMISSIONS, permissionsOf } from "@/embedded/store/permissions.ts";
import { list, MAX_NAMES, members, oneOf, parsed, rule, wrapped } from "./body_schema.ts";
import { presentGroup } from "./groups.ts";
import { selected } from "./list_parameters.ts";
import { requireRight } from "./mapi_caller.ts";
import { conflicting, invalid } from "./mapi_error.ts";
import { permittedUser, type TenantRequest } from "./mapi_request.ts";

const GRANTS = members({}, {
  namespacePermission: list(
    members({}, {
      namespaceName: z.string(rule("must be a string")),
      permissions: wrapped("permission", oneOf(...PERMISSIONS)),
    }),
    MAX_NAMES,
  ),
});

type Grants = Input<"setGrants">["grants"];

/** GET /tenants/{tenant}/userAccounts/{user}/dataAccessPermissions: with the right to read, or one's own. */
export function readUserPermissions(request: TenantRequest): Response {
  return permissionsResponse(request.store.buckets.grantsTo(permittedUser(request, "read").id), request);
}

/** POST /tenants/{tenant}/userAccounts/{user}/dataAccessPermissions: replaces those in the named namespaces. */
export async function changeUserPermissions(request: TenantRequest): Promise<void> {
  requireRight(request.caller, "administer");
  const user = permittedUser(request, "administer").id;
  await request.store.writer.change("setGrants", { to: { user }, grants: await readGrants(request) });
}

/** GET /tenants/{tenant}/groupAccounts/{group}/dataAccessPermissions */
export function readGroupPermissions(request: TenantRequest): Response {
  requireRight(request.caller, "read");
  return permissionsResponse(request.store.buckets.grantsToGroup(presentGroup(request).id), request);
}

/** POST /tenants/{tenant}/groupAccounts/{group}/dataAccessPermissions: replaces those in the named namespaces. */
export async function changeGroupPermissions(request: TenantRequest): Promise<void> {
  requireRight(request.caller, "administer");
  const group = presentGroup(request).id;
  await request.store.writer.change("setGrants", { to: { group }, grants: await readGrants(request) });
}

function permissionsResponse(masks: ReadonlyMap<number, number>, { store, query, tenant }: TenantRequest): Response {
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
async function readGrants({ store, body, tenant }: TenantRequest): Promise<Grants> {
  const { namespacePermission } = parsed(GRANTS, await body());
  const masks = new Map<number, number>();
  for (const { namespaceName, permissions } of namespacePermission) {
    const bucket = store.buckets.bucket(tenant.id, namespaceName);
    if (!bucket) throw conflicting("namespaceName", "must be that of a namespace of the tenant");
    if (masks.has(bucket.id)) throw invalid("namespaceName", "may be named once");
    masks.set(bucket.id, permissionMask(permissions.permission));
  }
  return [...masks].map(([bucket, permissions]) => ({ bucket, permissions }));
}
