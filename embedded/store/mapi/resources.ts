import { contentClasses, retentionClasses } from "./classes.ts";
import {
  deleteNamespaceCors,
  deleteTenantCors,
  readNamespaceCors,
  readTenantCors,
  writeNamespaceCors,
  writeTenantCors,
} from "./cors.ts";
import {
  changeGroupPermissions,
  changeUserPermissions,
  readGroupPermissions,
  readUserPermissions,
} from "./data_access.ts";
import { createGroup, deleteGroup, listGroups, modifyGroup, readGroup } from "./groups.ts";
import type { MapiMethods } from "./mapi_request.ts";
import { NAMESPACE_DOCUMENTS } from "./namespace_documents.ts";
import { createNamespace, deleteNamespace, listNamespaces, readNamespace, updateNamespace } from "./namespaces.ts";
import { documentMethods } from "./settings_document.ts";
import { TENANT_DOCUMENTS } from "./tenant_documents.ts";
import { deleteTenant, listServicePlans, modifyTenant, readServicePlan, readTenant } from "./tenants.ts";
import {
  readNamespaceChargeback,
  readNamespaceStatistics,
  readTenantChargeback,
  readTenantStatistics,
} from "./usage_reports.ts";
import { changePassword, resetPasswords } from "./user_passwords.ts";
import { createUser, deleteUser, listUsers, modifyUser, readUser } from "./users.ts";
import { resetVersioningSettings, setVersioningSettings, showVersioningSettings } from "./versioning_settings.ts";

/** A tenant, and everything of the management API that is within it, by its path below `/tenants/{tenant}/`. */
const RESOURCES: Readonly<Record<string, MapiMethods>> = {
  "": { GET: readTenant, POST: modifyTenant, DELETE: deleteTenant },
  ...Object.fromEntries(TENANT_DOCUMENTS.map((document) => [document.kind, documentMethods(document, "tenant")])),
  cors: { GET: readTenantCors, PUT: writeTenantCors, DELETE: deleteTenantCors },
  availableServicePlans: { GET: listServicePlans },
  "availableServicePlans/{plan}": { GET: readServicePlan },
  statistics: { GET: readTenantStatistics },
  chargebackReport: { GET: readTenantChargeback },

  userAccounts: { GET: listUsers, PUT: createUser, POST: resetPasswords },
  "userAccounts/{user}": { GET: readUser, POST: modifyUser, DELETE: deleteUser },
  "userAccounts/{user}/changePassword": { POST: changePassword },
  "userAccounts/{user}/dataAccessPermissions": { GET: readUserPermissions, POST: changeUserPermissions },

  groupAccounts: { GET: listGroups, PUT: createGroup },
  "groupAccounts/{group}": { GET: readGroup, POST: modifyGroup, DELETE: deleteGroup },
  "groupAccounts/{group}/dataAccessPermissions": { GET: readGroupPermissions, POST: changeGroupPermissions },

  contentClasses: contentClasses.all,
  "contentClasses/{class}": contentClasses.one,

  namespaces: { GET: listNamespaces, PUT: createNamespace },
  "namespaces/{namespace}": { GET: readNamespace, POST: updateNamespace, DELETE: deleteNamespace },
  "namespaces/{namespace}/versioningSettings": {
    GET: showVersioningSettings,
    POST: setVersioningSettings,
    DELETE: resetVersioningSettings,
  },
  ...Object.fromEntries(
    NAMESPACE_DOCUMENTS.map((document) => [
      `namespaces/{namespace}/${document.kind}`,
      documentMethods(document, "namespace"),
    ]),
  ),
  "namespaces/{namespace}/retentionClasses": retentionClasses.all,
  "namespaces/{namespace}/retentionClasses/{class}": retentionClasses.one,
  "namespaces/{namespace}/cors": { GET: readNamespaceCors, PUT: writeNamespaceCors, DELETE: deleteNamespaceCors },
  "namespaces/{namespace}/statistics": { GET: readNamespaceStatistics },
  "namespaces/{namespace}/chargebackReport": { GET: readNamespaceChargeback },
};

const TEMPLATES = Object.entries(RESOURCES).map(([path, methods]) => ({ parts: segmentsOf(path), methods }));

/** The resource of a path's decoded segments below the tenant, with its names; null for what is not there. */
export function findResource(segments: readonly string[]): { methods: MapiMethods; names: string[] } | null {
  const found = TEMPLATES.find(({ parts }) =>
    parts.length === segments.length &&
    parts.every((part, i) => isName(part) ? segments[i] !== "" : part === segments[i])
  );
  if (!found) return null;
  return { methods: found.methods, names: segments.filter((_, i) => isName(found.parts[i])) };
}

function segmentsOf(path: string): string[] {
  return path === "" ? [] : path.split("/");
}

function isName(part: string): boolean {
  return part.startsWith("{");
}
