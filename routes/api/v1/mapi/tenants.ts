import type { Operation } from "@/lib/http/operation.ts";
import type { Mapi } from "@/lib/mapi/client.ts";
import { listQuery, nameList } from "@/lib/mapi/records.ts";
import { listTenants } from "@/lib/mapi/tenants.ts";
import type { GatewayOperation } from "../operation.ts";

/** Tenants, for system-level administrators. */
export function tenantOperations(operation: GatewayOperation, mapi: Mapi): Operation[] {
  return [
    operation({
      id: "list_tenants",
      method: "GET",
      path: "/api/v1/mapi/tenants",
      tag: "System Admin: Tenants",
      summary: "List tenants",
      query: listQuery,
      responses: {
        200: { description: "Their names, or their records", schema: nameList },
        403: { description: "Not a system-level administrator" },
      },
      handler: async ({ caller, query }, c) => c.json(await listTenants(mapi, caller, query)),
    }),
  ];
}
