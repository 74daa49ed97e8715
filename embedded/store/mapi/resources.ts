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
  readonly asked: MapiRequest;
}

type ResourceHandler = (call: ResourceCall) => Response | Promise<Response>;

/** The methods of a resource; HEAD is answered as GET is, without the body. */
type ResourceMethods = Readonly<Partial<Record<"GET" | "PUT" | "POST" | "DELETE", ResourceHandler>>>;

/** Everything of the management API that is within one tenant, by its path below `/tenants/{tenant}/`. */
const RESOURCES: Readonly<Record<string, ResourceMethods>> = {
  ...Object.fromEntries(TENANT_DOCUMENTS.map((document): [string, ResourceMethods] => [document.kind, {
    GET: ({ tenant, asked }) => readTenantDocument(document, tenant, asked),
    POST: ({ tenant, asked }) => changeTenantDocument(document, tenant, asked),
  }])),
  cors: {
    GET: ({ tenant, asked }) => readTenantCors(tenant, asked),
    PUT: ({ tenant, asked }) => writeTenantCors(tenant, asked),
    DELETE: ({ tenant, asked }) => deleteTenantCors(tenant, asked),
  },
  availableServicePlans: { GET: ({ tenant, asked }) => listServicePlans(tenant, asked) },
  "availableServicePlans/{plan}": { GET: ({ tenant, names: [plan], asked }) => readServicePlan(tenant, plan, asked) },
  statistics: { GET: ({ tenant, asked }) => readTenantStatistics(tenant, asked) },
  chargebackReport: { GET: ({ tenant, asked }) => readTenantChargeback(tenant, asked) },

  userAccounts: {
    GET: ({ tenant, asked }) => listUsers(tenant, asked),
    PUT: ({ tenant, asked }) => createUser(tenant, asked),
    POST: ({ tenant, asked }) => resetPasswords(tenant, asked),
  },
  "userAccounts/{user}": {
    GET: ({ tenant, names: [user], asked }) => readUser(tenant, user, asked),
    POST: ({ tenant, names: [user], asked }) => modifyUser(tenant, user, asked),
    DELETE: ({ tenant, names: [user], asked }) => deleteUser(tenant, user, asked),
  },
  "userAccounts/{user}/changePassword": {
    POST: ({ tenant, names: [user], asked }) => changePassword(tenant, user, asked),
  },
  "userAccounts/{user}/dataAccessPermissions": {
    GET: ({ tenant, names: [user], asked }) => readUserPermissions(tenant, user, asked),
    POST: ({ tenant, names: [user], asked }) => changeUserPermissions(tenant, user, asked),
  },

  groupAccounts: {
    GET: ({ tenant, asked }) => listGroups(tenant, asked),
    PUT: ({ tenant, asked }) => createGroup(tenant, asked),
  },
  "groupAccounts/{group}": {
    GET: ({ tenant, names: [group], asked }) => readGroup(tenant, group, asked),
    POST: ({ tenant, names: [group], asked }) => modifyGroup(tenant, group, asked),
    DELETE: ({ tenant, names: [group], asked }) => deleteGroup(tenant, group, asked),
  },
  "groupAccounts/{group}/dataAccessPermissions": {
    GET: ({ tenant, names: [group], asked }) => readGroupPermissions(tenant, group, asked),
    POST: ({ tenant, names: [group], asked }) => changeGroupPermissions(tenant, group, asked),
  },

  contentClasses: {
    GET: ({ tenant, asked }) => listContentClasses(tenant, asked),
    PUT: ({ tenant, asked }) => createContentClass(tenant, asked),
  },
  "contentClasses/{class}": {
    GET: ({ tenant, names: [name], asked }) => readContentClass(tenant, name, asked),
    POST: ({ tenant, names: [name], asked }) => modifyContentClass(tenant, name, asked),
    DELETE: ({ tenant, names: [name], asked }) => deleteContentClass(tenant, name, asked),
  },

  namespaces: {
    GET: ({ tenant, asked }) => listNamespaces(tenant, asked),
    PUT: ({ tenant, asked }) => createNamespace(tenant, asked),
  },
  "namespaces/{namespace}": {
    GET: ({ tenant, names: [name], asked }) => readNamespace(tenant, name, asked),
    POST: ({ tenant, names: [name], asked }) => updateNamespace(tenant, name, asked),
    DELETE: ({ tenant, names: [name], asked }) => deleteNamespace(tenant, name, asked),
  },
  "namespaces/{namespace}/versioningSettings": {
    GET: ({ tenant, names: [name], asked }) => showVersioningSettings(tenant, name, asked),
    POST: ({ tenant, names: [name], asked }) => setVersioningSettings(tenant, name, asked),
    DELETE: ({ tenant, names: [name], asked }) => resetVersioningSettings(tenant, name, asked),
  },
  ...Object.fromEntries(
    NAMESPACE_DOCUMENTS.map((document): [string, ResourceMethods] => [`namespaces/{namespace}/${document.kind}`, {
      GET: ({ tenant, names: [name], asked }) => readNamespaceDocument(document, tenant, name, asked),
      POST: ({ tenant, names: [name], asked }) => changeNamespaceDocument(document, tenant, name, asked),
    }]),
  ),
  "namespaces/{namespace}/retentionClasses": {
    GET: ({ tenant, names: [name], asked }) => listRetentionClasses(tenant, name, asked),
    PUT: ({ tenant, names: [name], asked }) => createRetentionClass(tenant, name, asked),
  },
  "namespaces/{namespace}/retentionClasses/{class}": {
    GET: ({ tenant, names: [name, retention], asked }) => readRetentionClass(tenant, name, retention, asked),
    POST: ({ tenant, names: [name, retention], asked }) => modifyRetentionClass(tenant, name, retention, asked),
    DELETE: ({ tenant, names: [name, retention], asked }) => deleteRetentionClass(tenant, name, retention, asked),
  },
  "namespaces/{namespace}/cors": {
    GET: ({ tenant, names: [name], asked }) => readNamespaceCors(tenant, name, asked),
    PUT: ({ tenant, names: [name], asked }) => writeNamespaceCors(tenant, name, asked),
    DELETE: ({ tenant, names: [name], asked }) => deleteNamespaceCors(tenant, name, asked),
  },
  "namespaces/{namespace}/statistics": {
    GET: ({ tenant, names: [name], asked }) => readNamespaceStatistics(tenant, name, asked),
  },
  "namespaces/{namespace}/chargebackReport": {
    GET: ({ tenant, names: [name], asked }) => readNamespaceChargeback(tenant, name, asked),
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
