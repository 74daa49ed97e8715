import type { Operation } from "@/lib/http/operation.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import type { GatewayOperation } from "@/routes/api/v1/operation.ts";
import { statisticsOperations } from "./families.ts";
import { mapiOperations } from "./mapi_operations.ts";
import {
  NAMESPACE,
  namespaceExportOperations,
  namespaceOperations,
  namespaceSettingsOperations,
} from "./namespaces.ts";
import {
  type AccountEnded,
  contentClassOperations,
  groupAccountOperations,
  TENANT,
  tenantOperations,
  tenantSettingsOperations,
  userAccountOperations,
} from "./tenants.ts";

export type { AccountEnded } from "./tenants.ts";

/** The management plane. The export of several namespaces comes before single ones: `export` is no namespace there. */
export function managementOperations(
  operation: GatewayOperation,
  mapi: Mapi,
  now: () => number,
  accountEnded: AccountEnded,
): Operation[] {
  const operations = mapiOperations(operation, mapi);
  return [
    ...tenantOperations(operations),
    ...tenantSettingsOperations(operations),
    ...userAccountOperations(operations, accountEnded),
    ...groupAccountOperations(operations),
    ...contentClassOperations(operations),
    ...namespaceExportOperations(operation, mapi, now),
    ...namespaceOperations(operations),
    ...namespaceSettingsOperations(operations),
    ...statisticsOperations(operations, "tenant", TENANT),
    ...statisticsOperations(operations, "namespace", NAMESPACE),
  ];
}
