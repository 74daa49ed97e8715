import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import {
  groupAccount,
  groupAccountCreate,
  groupAccountUpdate,
  newPasswordQuery,
  passwordQuery,
  resetPasswordsQuery,
  updatePassword,
  userAccount,
  userAccountCreate,
  userAccountUpdate,
} from "@/lib/mapi/records/accounts.ts";
import { groupnameList, listQuery, nameList, usernameList, verboseQuery } from "@/lib/mapi/records/fields.ts";
import {
  consoleSecurity,
  contactInfo,
  contentClass,
  contentClassCreate,
  contentClassUpdate,
  emailNotification,
  namespaceDefaults,
  permissions,
  searchSecurity,
  servicePlan,
  tenant,
  tenantCreate,
  tenantCreateQuery,
  tenantUpdate,
} from "@/lib/mapi/records/tenant.ts";
import {
  corsOperations,
  CREATED,
  created,
  type Document,
  documentOperations,
  type Family,
  permissionOperations,
  recordKind,
  statusAlone,
} from "./families.ts";
import type { MapiOperations, Names } from "./mapi_operations.ts";

const TENANTS = recordKind({
  tag: "System Admin: Tenants",
  nouns: ["tenant", "tenants"],
  path: "/tenants",
  parameter: "tenant_name",
  summaries: {
    create: "Create a tenant with its first administrator",
    get: "Get a tenant",
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
      headerMembers(headers) {
        const softwareVersion = headers.get("X-HCP-SoftwareVersion");
        return softwareVersion === null ? {} : { softwareVersion };
      },
    }),
    exists(TENANTS.head),
    write({ ...TENANTS.update, audit: "tenant_settings", body: tenantUpdate }),
    write({ ...TENANTS.delete, audit: "tenant_delete" }),
  ];
}

/** A tenant's own documents and reports. */
export const TENANT: Family = {
  base: TENANTS.record.path,
  tag: "Tenant Admin: Settings",
  resource: TENANTS.record.resource,
  audit: "tenant_settings",
};

const DOCUMENTS: readonly Document[] = [
  { id: "console_security", path: "/consoleSecurity", what: "password and login rules", ...consoleSecurity },
  { id: "contact_info", path: "/contactInfo", what: "the contact information", ...contactInfo },
  { id: "email_notification", path: "/emailNotification", what: "email notification settings", ...emailNotification },
  {
    id: "namespace_defaults",
    path: "/namespaceDefaults",
    what: "the defaults of new namespaces",
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
    what: "the permission mask of the tenant",
    audit: "permissions_change",
    ...permissions,
  },
];

/** Settings of a tenant, for its administrators. */
export function tenantSettingsOperations(operations: MapiOperations): Operation[] {
  const { read } = operations;
  const { base, tag, resource } = TENANT;
  return [
    ...documentOperations(operations, TENANT, DOCUMENTS),
    ...corsOperations(operations, TENANT, "tenant"),
    read({
      id: "list_service_plans",
      path: `${base}/availableServicePlans`,
      tag,
      summary: "List the service plans for namespaces",
      resource,
      query: listQuery,
      schema: nameList,
    }),
    read({
      id: "get_service_plan",
      path: `${base}/availableServicePlans/{plan_name}`,
      tag,
      summary: "Get a service plan",
      resource: ({ plan_name }) => `service plan '${plan_name}'`,
      schema: servicePlan,
    }),
  ];
}

const USERS = recordKind({
  tag: "Tenant Admin: Identity",
  nouns: ["user account", "user accounts"],
  path: `${TENANTS.record.path}/userAccounts`,
  parameter: "username",
  label: "user",
});

/** Is called when an account was disabled or deleted: its sessions end. */
export type AccountEnded = (account: { readonly tenant: string; readonly user: string }) => void;

/** User accounts of a tenant. */
export function userAccountOperations(operations: MapiOperations, accountEnded: AccountEnded): Operation[] {
  const { read, write, exists } = operations;
  const { path, tag, resource } = USERS.list;
  const ended = ({ tenant_name: tenant, username: user }: Names) => accountEnded({ tenant, user });
  return [
    read({ ...USERS.list, schema: usernameList }),
    write({
      ...USERS.create,
      audit: "account_create",
      query: newPasswordQuery,
      body: userAccountCreate,
      ...created("UserCreated", "username"),
    }),
    write({
      id: "reset_passwords",
      method: "POST",
      path,
      tag,
      summary: "Reset the password of every local account with the role SECURITY",
      resource,
      query: resetPasswordsQuery,
      audit: "password_change",
      ...statusAlone("passwords_reset", "PasswordsReset"),
    }),
    read({ ...USERS.get, schema: userAccount }),
    exists(USERS.head),
    write({
      ...USERS.update,
      query: passwordQuery,
      body: userAccountUpdate,
      audit: "account_change",
      auditOf: ({ password }) => password ? "password_change" : "account_change",
      done: (names, { enabled }) => {
        if (enabled === false) ended(names);
      },
    }),
    write({ ...USERS.delete, audit: "account_delete", done: ended }),
    write({
      id: "change_password",
      method: "POST",
      ...USERS.record,
      path: `${USERS.record.path}/changePassword`,
      summary: "Change a password",
      description: "Your own password requires the old one; administrators may change any without it.",
      body: updatePassword,
      audit: "password_change",
      ...statusAlone("password_changed", "PasswordChanged"),
    }),
    ...permissionOperations(operations, "user", USERS.record),
  ];
}

const GROUPS = recordKind({
  tag: "Tenant Admin: Identity",
  nouns: ["group account", "group accounts"],
  path: `${TENANTS.record.path}/groupAccounts`,
  parameter: "groupname",
  label: "group",
});

const GROUP_CREATED = created(
  "GroupCreated",
  "groupname",
  "groupname",
  z.string().nullable().meta({ description: "Null for a group that is named by its SID" }),
);

/** Group accounts of a tenant. */
export function groupAccountOperations(operations: MapiOperations): Operation[] {
  const { read, write, exists } = operations;
  return [
    read({ ...GROUPS.list, schema: groupnameList }),
    write({ ...GROUPS.create, audit: "group_create", body: groupAccountCreate, ...GROUP_CREATED }),
    read({ ...GROUPS.get, schema: groupAccount }),
    exists(GROUPS.head),
    write({ ...GROUPS.update, audit: "group_change", body: groupAccountUpdate }),
    write({ ...GROUPS.delete, audit: "group_delete" }),
    ...permissionOperations(operations, "group", GROUPS.record),
  ];
}

const CLASSES = recordKind({
  tag: "Tenant Admin: Content Classes",
  nouns: ["content class", "content classes"],
  path: `${TENANTS.record.path}/contentClasses`,
  parameter: "name",
});

/** Content classes: which properties annotations have, and in which namespaces. */
export function contentClassOperations({ read, write, exists }: MapiOperations): Operation[] {
  return [
    read({ ...CLASSES.list, schema: nameList }),
    write({ ...CLASSES.create, audit: "content_class_create", body: contentClassCreate, ...CREATED }),
    read({ ...CLASSES.get, schema: contentClass }),
    exists(CLASSES.head),
    write({ ...CLASSES.update, audit: "content_class_change", body: contentClassUpdate }),
    write({ ...CLASSES.delete, audit: "content_class_delete" }),
  ];
}
