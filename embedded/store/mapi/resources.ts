import type { Tenant } from "@/embedded/store/accounts.ts";
import { readNamespaceChargeback, readTenantChargeback } from "./chargeback.ts";
import {
  createContentClass,
  deleteContentClass,
  listContentClasses,
  modifyContentClass,
  readContentClass,
} from "./content_classes.ts";
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
import type { MapiRequest } from "./mapi_request.ts";
import { NAMESPACE_DOCUMENTS } from "./namespace_documents.ts";
import { createNamespace, deleteNamespace, listNamespaces, readNamespace, updateNamespace } from "./namespaces.ts";
import {
  createRetentionClass,
  deleteRetentionClass,
  listRetentionClasses,
  modifyRetentionClass,
  readRetentionClass,
} from "./retention_classes.ts";
import { listServicePlans, readServicePlan } from "./service_plans.ts";
import {
  changeNamespaceDocument,
  changeTenantDocument,
  readNamespaceDocument,
  readTenantDocument,
} from "./settings_document.ts";
import { readNamespaceStatistics, readTenantStatistics } from "./statistics.ts";
import { TENANT_DOCUMENTS } from "./tenant_documents.ts";
import { changePassword, resetPasswords } from "./user_passwords.ts";
import { createUser, deleteUser, listUsers, modifyUser, readUser } from "./users.ts";
import { resetVersioningSettings, setVersioningSettings, showVersioningSettings } from "./versioning_settings.ts";

/** A request for something of one tenant, with the names of its path below the tenant, decoded. */
interface ResourceCall {
  readonly tenant: Tenant;
  readonly names: readonly string[];
  readonly request: MapiRequest;
}

type ResourceHandler = (call: ResourceCall) => Response | Promise<Response>;

/** The methods of a resource; HEAD is handled as GET, without the body. */
type ResourceMethods = Readonly<Partial<Record<"GET" | "PUT" | "POST" | "DELETE", ResourceHandler>>>;

/** Everything of the management API that is within one tenant, by its path below `/tenants/{tenant}/`. */
const RESOURCES: Readonly<Record<string, ResourceMethods>> = {
  ...Object.fromEntries(TENANT_DOCUMENTS.map((document): [string, ResourceMethods] => [document.kind, {
    GET: ({ tenant, request }) => readTenantDocument(document, tenant, request),
    POST: ({ tenant, request }) => changeTenantDocument(document, tenant, request),
  }])),
  cors: {
    GET: ({ tenant, request }) => readTenantCors(tenant, request),
    PUT: ({ tenant, request }) => writeTenantCors(tenant, request),
    DELETE: ({ tenant, request }) => deleteTenantCors(tenant, request),
  },
  availableServicePlans: { GET: ({ tenant, request }) => listServicePlans(tenant, request) },
  "availableServicePlans/{plan}": {
    GET: ({ tenant, names: [plan], request }) => readServicePlan(tenant, plan, request),
  },
  statistics: { GET: ({ tenant, request }) => readTenantStatistics(tenant, request) },
  chargebackReport: { GET: ({ tenant, request }) => readTenantChargeback(tenant, request) },

  userAccounts: {
    GET: ({ tenant, request }) => listUsers(tenant, request),
    PUT: ({ tenant, request }) => createUser(tenant, request),
    POST: ({ tenant, request }) => resetPasswords(tenant, request),
  },
  "userAccounts/{user}": {
    GET: ({ tenant, names: [user], request }) => readUser(tenant, user, request),
    POST: ({ tenant, names: [user], request }) => modifyUser(tenant, user, request),
    DELETE: ({ tenant, names: [user], request }) => deleteUser(tenant, user, request),
  },
  "userAccounts/{user}/changePassword": {
    POST: ({ tenant, names: [user], request }) => changePassword(tenant, user, request),
  },
  "userAccounts/{user}/dataAccessPermissions": {
    GET: ({ tenant, names: [user], request }) => readUserPermissions(tenant, user, request),
    POST: ({ tenant, names: [user], request }) => changeUserPermissions(tenant, user, request),
  },

  groupAccounts: {
    GET: ({ tenant, request }) => listGroups(tenant, request),
    PUT: ({ tenant, request }) => createGroup(tenant, request),
  },
  "groupAccounts/{group}": {
    GET: ({ tenant, names: [group], request }) => readGroup(tenant, group, request),
    POST: ({ tenant, names: [group], request }) => modifyGroup(tenant, group, request),
    DELETE: ({ tenant, names: [group], request }) => deleteGroup(tenant, group, request),
  },
  "groupAccounts/{group}/dataAccessPermissions": {
    GET: ({ tenant, names: [group], request }) => readGroupPermissions(tenant, group, request),
    POST: ({ tenant, names: [group], request }) => changeGroupPermissions(tenant, group, request),
  },

  contentClasses: {
    GET: ({ tenant, request }) => listContentClasses(tenant, request),
    PUT: ({ tenant, request }) => createContentClass(tenant, request),
  },
  "contentClasses/{class}": {
    GET: ({ tenant, names: [name], request }) => readContentClass(tenant, name, request),
    POST: ({ tenant, names: [name], request }) => modifyContentClass(tenant, name, request),
    DELETE: ({ tenant, names: [name], request }) => deleteContentClass(tenant, name, request),
  },

  namespaces: {
    GET: ({ tenant, request }) => listNamespaces(tenant, request),
    PUT: ({ tenant, request }) => createNamespace(tenant, request),
  },
  "namespaces/{namespace}": {
    GET: ({ tenant, names: [name], request }) => readNamespace(tenant, name, request),
    POST: ({ tenant, names: [name], request }) => updateNamespace(tenant, name, request),
    DELETE: ({ tenant, names: [name], request }) => deleteNamespace(tenant, name, request),
  },
  "namespaces/{namespace}/versioningSettings": {
    GET: ({ tenant, names: [name], request }) => showVersioningSettings(tenant, name, request),
    POST: ({ tenant, names: [name], request }) => setVersioningSettings(tenant, name, request),
    DELETE: ({ tenant, names: [name], request }) => resetVersioningSettings(tenant, name, request),
  },
  ...Object.fromEntries(
    NAMESPACE_DOCUMENTS.map((document): [string, ResourceMethods] => [`namespaces/{namespace}/${document.kind}`, {
      GET: ({ tenant, names: [name], request }) => readNamespaceDocument(document, tenant, name, request),
      POST: ({ tenant, names: [name], request }) => changeNamespaceDocument(document, tenant, name, request),
    }]),
  ),
  "namespaces/{namespace}/retentionClasses": {
    GET: ({ tenant, names: [name], request }) => listRetentionClasses(tenant, name, request),
    PUT: ({ tenant, names: [name], request }) => createRetentionClass(tenant, name, request),
  },
  "namespaces/{namespace}/retentionClasses/{class}": {
    GET: ({ tenant, names: [name, retention], request }) => readRetentionClass(tenant, name, retention, request),
    POST: ({ tenant, names: [name, retention], request }) => modifyRetentionClass(tenant, name, retention, request),
    DELETE: ({ tenant, names: [name, retention], request }) => deleteRetentionClass(tenant, name, retention, request),
  },
  "namespaces/{namespace}/cors": {
    GET: ({ tenant, names: [name], request }) => readNamespaceCors(tenant, name, request),
    PUT: ({ tenant, names: [name], request }) => writeNamespaceCors(tenant, name, request),
    DELETE: ({ tenant, names: [name], request }) => deleteNamespaceCors(tenant, name, request),
  },
  "namespaces/{namespace}/statistics": {
    GET: ({ tenant, names: [name], request }) => readNamespaceStatistics(tenant, name, request),
  },
  "namespaces/{namespace}/chargebackReport": {
    GET: ({ tenant, names: [name], request }) => readNamespaceChargeback(tenant, name, request),
  },
};

const TEMPLATES = Object.entries(RESOURCES).map(([path, methods]) => ({ parts: path.split("/"), methods }));

/** The resource of a path's decoded segments below the tenant, with its names; null for what is not there. */
export function findResource(segments: readonly string[]): { methods: ResourceMethods; names: string[] } | null {
  const found = TEMPLATES.find(({ parts }) =>
    parts.length === segments.length &&
    parts.every((part, i) => isName(part) ? segments[i] !== "" : part === segments[i])
  );
  if (!found) return null;
  return { methods: found.methods, names: segments.filter((_, i) => isName(found.parts[i])) };
}

function isName(part: string): boolean {
  return part.startsWith("{");
}
