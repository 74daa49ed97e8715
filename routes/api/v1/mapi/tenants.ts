import type { Operation } from "@/lib/http/operation.ts";
import { nameList } from "@/lib/mapi/records/lists.ts";
import { tenant, tenantCreate, tenantCreateQuery, tenantUpdate } from "@/lib/mapi/records/tenant.ts";
import { CREATED } from "./change_results.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { recordKind } from "./record_kind.ts";

const TENANTS = recordKind({
  tag: "System Admin: Tenants",
  nouns: ["tenant", "tenants"],
  path: "/tenants",
  parameter: "tenant_name",
  summaries: {
    create: "Create a tenant with its first administrator",
    get: "A tenant's record",
    delete: "Delete a tenant that has no namespaces",
  },
});

/** The same list at another path. */
const SYSTEM = { path: "/system/tenants", storePath: TENANTS.list.path };

/** Tenants, for system-level administrators; the list under `system/tenants` as well. */
export function tenantOperations({ read, write, exists }: MapiOperations): Operation[] {
  const creation = { audit: "tenant_create", query: tenantCreateQuery, body: tenantCreate, ...CREATED } as const;
  return [
    read({ ...TENANTS.list, schema: nameList }),
    write({ ...TENANTS.create, ...creation }),
    read({ ...TENANTS.list, id: "list_system_tenants", ...SYSTEM, schema: nameList }),
    write({ ...TENANTS.create, id: "create_system_tenant", ...SYSTEM, ...creation }),
    read({
      ...TENANTS.get,
      schema: tenant,
      further(headers) {
        const softwareVersion = headers.get("X-HCP-SoftwareVersion");
        return softwareVersion === null ? {} : { softwareVersion };
      },
    }),
    exists(TENANTS.head),
    write({ ...TENANTS.update, audit: "tenant_settings", body: tenantUpdate }),
    write({ ...TENANTS.delete, audit: "tenant_delete" }),
  ];
}
