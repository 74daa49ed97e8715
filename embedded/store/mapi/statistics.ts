import type { Holdings, Tenant } from "@/embedded/store/accounts.ts";
import { requireRight } from "./mapi_caller.ts";
import { type MapiRequest, permittedNamespace } from "./mapi_request.ts";

/** GET /tenants/{tenant}/statistics */
export function readTenantStatistics(tenant: Tenant, { store, caller }: MapiRequest): Response {
  requireRight(caller, "read figures");
  return statisticsResponse(store.accounts.holdings(tenant.id));
}

/** GET /tenants/{tenant}/namespaces/{namespace}/statistics */
export function readNamespaceStatistics(tenant: Tenant, name: string, request: MapiRequest): Response {
  const { storedCount, storedBytes, partBytes } = permittedNamespace(tenant, name, request, "read figures");
  return statisticsResponse({ objects: storedCount, bytes: storedBytes, partBytes });
}

/** There are no annotations, and nothing is shredded. */
function statisticsResponse({ objects, bytes, partBytes }: Holdings): Response {
  return Response.json({
    objectCount: objects,
    ingestedVolume: bytes,
    storageCapacityUsed: bytes + partBytes,
    customMetadataCount: 0,
    customMetadataSize: 0,
    shredCount: 0,
    shredSize: 0,
  });
}
