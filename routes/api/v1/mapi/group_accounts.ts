import type { Operation } from "@/lib/http/operation.ts";
import { groupAccount, groupAccountCreate, groupAccountUpdate } from "@/lib/mapi/records/accounts.ts";
import { groupnameList, listQuery, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import { DELETED, GROUP_CREATED, UPDATED } from "./answers.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { permissionOperations } from "./permissions.ts";

const TAG = "Tenant Admin: Identity";
const LIST = "/tenants/{tenant_name}/groupAccounts";
const ONE = `${LIST}/{groupname}`;

/** Group accounts of a tenant. */
export function groupAccountOperations(operations: MapiOperations): Operation[] {
  const { read, write, exists } = operations;
  const resource = ({ groupname }: Readonly<Record<string, string>>) => `group '${groupname}'`;
  return [
    read({
      id: "list_group_accounts",
      path: LIST,
      tag: TAG,
      summary: "List group accounts",
      resource: () => "group accounts",
      query: listQuery,
      forward: storeListQuery,
      isList: true,
      schema: groupnameList,
    }),
    write({
      id: "create_group_account",
      method: "PUT",
      path: LIST,
      tag: TAG,
      summary: "Create a group account",
      resource: () => "group account",
      body: groupAccountCreate,
      ...GROUP_CREATED,
    }),
    read({
      id: "get_group_account",
      path: ONE,
      tag: TAG,
      summary: "A group account",
      resource,
      query: verboseQuery,
      schema: groupAccount,
    }),
    exists({ id: "head_group_account", path: ONE, tag: TAG, summary: "Whether a group account exists", resource }),
    write({
      id: "update_group_account",
      method: "POST",
      path: ONE,
      tag: TAG,
      summary: "Change a group account",
      resource,
      body: groupAccountUpdate,
      ...UPDATED,
    }),
    write({
      id: "delete_group_account",
      method: "DELETE",
      path: ONE,
      tag: TAG,
      summary: "Delete a group account",
      resource,
      ...DELETED,
    }),
    ...permissionOperations(operations, { of: "group", path: ONE, tag: TAG, resource }),
  ];
}
