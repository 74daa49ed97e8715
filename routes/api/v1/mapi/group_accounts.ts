import type { Operation } from "@/lib/http/operation.ts";
import { groupAccount, groupAccountCreate, groupAccountUpdate } from "@/lib/mapi/records/accounts.ts";
import { groupnameList } from "@/lib/mapi/records/lists.ts";
import { GROUP_CREATED } from "./change_results.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { permissionOperations } from "./permissions.ts";
import { recordKind } from "./record_kind.ts";

const GROUPS = recordKind({
  tag: "Tenant Admin: Identity",
  nouns: ["group account", "group accounts"],
  path: "/tenants/{tenant_name}/groupAccounts",
  parameter: "groupname",
  label: "group",
});

/** Group accounts of a tenant. */
export function groupAccountOperations(operations: MapiOperations): Operation[] {
  const { read, write, exists } = operations;
  return [
    read({ ...GROUPS.list, schema: groupnameList }),
    write({ ...GROUPS.create, audit: "group_create", body: groupAccountCreate, ...GROUP_CREATED }),
    read({ ...GROUPS.get, schema: groupAccount }),
    exists(GROUPS.head),
    write({ ...GROUPS.update, audit: "group_change", body: groupAccountUpdate }),
    write({ ...GROUPS.delete, audit: "group_delete" }),
    ...permissionOperations(operations, "group", GROUPS.record),
  ];
}
