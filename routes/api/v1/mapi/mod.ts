import type { Operation } from "@/lib/http/operation.ts";
import type { Mapi } from "@/lib/mapi/client.ts";
import type { GatewayOperation } from "@/routes/api/v1/operation.ts";
import { contentClassOperations } from "./content_classes.ts";
import { groupAccountOperations } from "./group_accounts.ts";
import { mapiOperations } from "./mapi_operations.ts";
import { namespaceExportOperations } from "./namespace_export.ts";
import { namespaceSettingsOperations } from "./namespace_settings.ts";
import { namespaceOperations } from "./namespaces.ts";
import { statisticsOperations } from "./statistics.ts";
import { tenantSettingsOperations } from "./tenant_settings.ts";
import { tenantOperations } from "./tenants.ts";
import { type AccountEnded, userAccountOperations } from "./user_accounts.ts";

export type { AccountEnded } from "./user_accounts.ts";

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
    ...statisticsOperations(operations),
  ];
}
