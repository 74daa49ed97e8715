import type { Operation } from "@/lib/http/operation.ts";
import { dataAccessPermissions, dataAccessPermissionsUpdate } from "@/lib/mapi/records/accounts.ts";
import { listQuery, storeListQuery } from "@/lib/mapi/records/lists.ts";
import { UPDATED } from "./change_results.ts";
import type { Family } from "./documents.ts";
import type { MapiOperations } from "./mapi_operations.ts";

/** Room for as many namespaces as a tenant can have, with every permission each, so that their number is what is refused. */
const MAX_PERMISSIONS_BYTES = 4 * 1024 * 1024;

/** What an account, of a user or a group, may do in the tenant's namespaces. */
export function permissionOperations(
  { read, write }: MapiOperations,
  of: "user" | "group",
  { path: account, tag, resource }: Pick<Family, "tag" | "resource"> & { readonly path: string },
): Operation[] {
  const path = `${account}/dataAccessPermissions`;
  return [
    read({
      id: `get_${of}_data_access_permissions`,
      path,
      tag,
      summary: `What a ${of} may do in which namespaces`,
      resource,
      query: listQuery,
      forward: storeListQuery,
      schema: dataAccessPermissions,
    }),
    write({
      id: `update_${of}_data_access_permissions`,
      method: "POST",
      path,
      tag,
      summary: `Set what a ${of} may do in the namespaces that are named`,
      resource,
      body: dataAccessPermissionsUpdate,
      limitBytes: MAX_PERMISSIONS_BYTES,
      audit: "permissions_change",
      ...UPDATED,
    }),
  ];
}
