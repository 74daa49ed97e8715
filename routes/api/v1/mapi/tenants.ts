import type { Operation } from "@/lib/http/operation.ts";
import { listQuery, nameList, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import { tenant, tenantCreate, tenantCreateQuery, tenantUpdate } from "@/lib/mapi/records/tenant.ts";
import { CREATED, DELETED, UPDATED } from "./answers.ts";
import type { MapiOperations } from "./mapi_operations.ts";

const TAG = "System Admin: Tenants";
const LIST = "/tenants";
const ONE = "/tenants/{tenant_name}";

/** Tenants, for system-level administrators; the list under `system/tenants` as well. */
export function tenantOperations({ read, write, exists }: MapiOperations): Operation[] {
  const resource = ({ tenant_name }: Readonly<Record<string, string>>) => `tenant '${tenant_name}'`;
  const paths = [
    { path: LIST, read: "list_tenants", create: "create_tenant" },
    { path: "/system/tenants", read: "list_system_tenants", create: "create_system_tenant" },
  ];
  return [
    ...paths.flatMap((at) => [
      read({
        id: at.read,
        path: at.path,
        storePath: LIST,
        tag: TAG,
        summary: "List tenants",
        resource: () => "tenants",
        query: listQuery,
        forward: storeListQuery,
        isList: true,
        schema: nameList,
      }),
      write({
        id: at.create,
        method: "PUT",
        path: at.path,
        storePath: LIST,
        tag: TAG,
        summary: "Create a tenant with its first administrator",
        resource: () => "tenant",
        query: tenantCreateQuery,
        body: tenantCreate,
        ...CREATED,
      }),
    ]),
    read({
      id: "get_tenant",
      path: ONE,
      tag: TAG,
      summary: "A tenant's record",
      resource,
      query: verboseQuery,
      schema: tenant,
      further(headers) {
        const softwareVersion = headers.get("X-HCP-SoftwareVersion");
        return softwareVersion === null ? {} : { softwareVersion };
      },
    }),
    exists({ id: "head_tenant", path: ONE, tag: TAG, summary: "Whether a tenant exists", resource }),
    write({
      id: "update_tenant",
      method: "POST",
      path: ONE,
      tag: TAG,
      summary: "Change a tenant",
      resource,
      body: tenantUpdate,
      ...UPDATED,
    }),
    write({
      id: "delete_tenant",
      method: "DELETE",
      path: ONE,
      tag: TAG,
      summary: "Delete a tenant that has no namespaces",
      resource,
      ...DELETED,
    }),
  ];
}
