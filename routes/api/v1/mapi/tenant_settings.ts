import type { Operation } from "@/lib/http/operation.ts";
import { listQuery, nameList, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import {
  consoleSecurity,
  contactInfo,
  emailNotification,
  namespaceDefaults,
  permissions,
  searchSecurity,
  servicePlan,
} from "@/lib/mapi/records/tenant_settings.ts";
import { TENANT_CORS_SET } from "./change_results.ts";
import { corsOperations, type Document, documentOperations, type Family } from "./documents.ts";
import type { MapiOperations } from "./mapi_operations.ts";

const FAMILY: Family = {
  base: "/tenants/{tenant_name}",
  tag: "Tenant Admin: Settings",
  resource: ({ tenant_name }) => `tenant '${tenant_name}'`,
  audit: "tenant_settings",
};

const DOCUMENTS: readonly Document[] = [
  { id: "console_security", path: "/consoleSecurity", what: "the rules of passwords and logins", ...consoleSecurity },
  { id: "contact_info", path: "/contactInfo", what: "the contact information", ...contactInfo },
  { id: "email_notification", path: "/emailNotification", what: "who gets mails about events", ...emailNotification },
  {
    id: "namespace_defaults",
    path: "/namespaceDefaults",
    what: "the settings of new namespaces",
    ...namespaceDefaults,
    query: verboseQuery,
  },
  {
    id: "search_security",
    path: "/searchSecurity",
    what: "the address rules of the search console",
    ...searchSecurity,
  },
  {
    id: "tenant_permissions",
    path: "/permissions",
    what: "the permissions that the tenant allows",
    audit: "permissions_change",
    ...permissions,
  },
];

/** Settings of a tenant, for its administrators. */
export function tenantSettingsOperations(operations: MapiOperations): Operation[] {
  const { read } = operations;
  const { base, tag, resource } = FAMILY;
  return [
    ...documentOperations(operations, FAMILY, DOCUMENTS),
    ...corsOperations(operations, FAMILY, "tenant", TENANT_CORS_SET),
    read({
      id: "list_service_plans",
      path: `${base}/availableServicePlans`,
      tag,
      summary: "List the service plans that namespaces may have",
      resource,
      query: listQuery,
      forward: storeListQuery,
      schema: nameList,
    }),
    read({
      id: "get_service_plan",
      path: `${base}/availableServicePlans/{plan_name}`,
      tag,
      summary: "A service plan",
      resource: ({ plan_name }) => `service plan '${plan_name}'`,
      schema: servicePlan,
    }),
  ];
}
