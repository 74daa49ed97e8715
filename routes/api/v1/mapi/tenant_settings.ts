import type { Operation } from "@/lib/http/operation.ts";
import { listQuery, nameList, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import {
  consoleSecurity,
  consoleSecurityUpdate,
  contactInfo,
  contactInfoUpdate,
  emailNotification,
  emailNotificationUpdate,
  namespaceDefaults,
  namespaceDefaultsUpdate,
  permissions,
  searchSecurity,
  searchSecurityUpdate,
  servicePlan,
} from "@/lib/mapi/records/tenant_settings.ts";
import { TENANT_CORS_SET } from "./answers.ts";
import { corsOperations, type Document, documentOperations, type Family } from "./documents.ts";
import type { MapiOperations } from "./mapi_operations.ts";

const BASE = "/tenants/{tenant_name}";

const FAMILY: Family = {
  tag: "Tenant Admin: Settings",
  resource: ({ tenant_name }) => `tenant '${tenant_name}'`,
};

const DOCUMENTS: readonly Document[] = [
  {
    id: "console_security",
    path: `${BASE}/consoleSecurity`,
    what: "the rules of passwords and logins",
    schema: consoleSecurity,
    update: consoleSecurityUpdate,
  },
  {
    id: "contact_info",
    path: `${BASE}/contactInfo`,
    what: "the contact information",
    schema: contactInfo,
    update: contactInfoUpdate,
  },
  {
    id: "email_notification",
    path: `${BASE}/emailNotification`,
    what: "who is told of events by mail",
    schema: emailNotification,
    update: emailNotificationUpdate,
  },
  {
    id: "namespace_defaults",
    path: `${BASE}/namespaceDefaults`,
    what: "the settings of new namespaces",
    schema: namespaceDefaults,
    update: namespaceDefaultsUpdate,
    query: verboseQuery,
  },
  {
    id: "search_security",
    path: `${BASE}/searchSecurity`,
    what: "the address rules of the search console",
    schema: searchSecurity,
    update: searchSecurityUpdate,
  },
  {
    id: "tenant_permissions",
    path: `${BASE}/permissions`,
    what: "the permissions that the tenant allows",
    schema: permissions,
    update: permissions,
  },
];

/** Settings of a tenant, for its administrators. */
export function tenantSettingsOperations(operations: MapiOperations): Operation[] {
  const { read } = operations;
  const { tag, resource } = FAMILY;
  return [
    ...documentOperations(operations, FAMILY, DOCUMENTS),
    ...corsOperations(operations, FAMILY, {
      path: `${BASE}/cors`,
      of: "tenant",
      set: TENANT_CORS_SET,
    }),
    read({
      id: "list_service_plans",
      path: `${BASE}/availableServicePlans`,
      tag,
      summary: "List the service plans that namespaces may have",
      resource,
      query: listQuery,
      forward: storeListQuery,
      schema: nameList,
    }),
    read({
      id: "get_service_plan",
      path: `${BASE}/availableServicePlans/{plan_name}`,
      tag,
      summary: "A service plan",
      resource: ({ plan_name }) => `service plan '${plan_name}'`,
      schema: servicePlan,
    }),
  ];
}
