import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { NewGroup } from "@/embedded/store/changes.ts";
import { type Document, newTenantRecord, newUser } from "@/embedded/store/documents.ts";
import { folded, isHostLabel } from "@/embedded/store/names.ts";
import type { Tenant } from "@/embedded/store/stored_accounts.ts";
import {
  forbidden,
  listResponse,
  MapiError,
  type MapiRequest,
  mapiTime,
  notFound,
  only,
  requireRight,
  type TenantRequest,
} from "./mapi_request.ts";
import { newPasswordMd5 } from "./passwords.ts";
import {
  boolean,
  each,
  integer,
  isVerbose,
  members,
  oneOf,
  parsed,
  quota,
  rule,
  selected,
  tags,
  text,
  wrapped,
} from "./request_schema.ts";
import { groupname, username as usernameSchema } from "./user_accounts.ts";

const NAME_RULE = "must have 1 to 63 letters, digits and inner hyphens";

const QUOTA_RULE = "must be a whole number from 1 to 10000, or None";

const MEMBERS = {
  systemVisibleDescription: text(1024),
  tenantVisibleDescription: text(1024),
  hardQuota: quota,
  softQuota: integer(0, 100),
  namespaceQuota: z.preprocess(
    (value) => typeof value === "number" ? String(value) : value,
    z.string(rule(QUOTA_RULE)).regex(/^(?:None|[1-9]\d{0,3}|10000)$/, QUOTA_RULE),
  ),
  authenticationTypes: wrapped("authenticationType", oneOf("LOCAL", "RADIUS", "EXTERNAL")),
  servicePlan: text(64),
  maxNamespacesPerUser: integer(0, 10_000),
  ...each([
    "complianceConfigurationEnabled",
    "versioningConfigurationEnabled",
    "searchConfigurationEnabled",
    "replicationConfigurationEnabled",
    "erasureCodingSelectionEnabled",
    "servicePlanSelectionEnabled",
    "administrationAllowed",
    "snmpLoggingEnabled",
    "syslogLoggingEnabled",
  ], boolean),
  tags,
};

const NEW = members(MEMBERS, { name: z.string(rule(NAME_RULE)).refine((name) => isHostLabel(name), NAME_RULE) });

const CHANGE = members(MEMBERS);

/** The members of a tenant's record in the short form: those that can be changed. */
const MODIFIABLE = [
  "administrationAllowed",
  "maxNamespacesPerUser",
  "snmpLoggingEnabled",
  "syslogLoggingEnabled",
  "tenantVisibleDescription",
];

/** Members that only the system level changes; a tenant's own administrators may repeat them. */
const SYSTEM_ONLY = Object.keys(MEMBERS).filter((member) => !MODIFIABLE.includes(member) && member !== "tags");

/** GET /tenants */
export function listTenants({ store, caller, query }: MapiRequest): Response {
  requireRight(caller, "read");
  return listResponse("name", selected(store.accounts.tenants().map(fullRecord), query, "name"), isVerbose(query));
}

/** GET and HEAD /tenants/{tenant} */
export function readTenant({ caller, query, tenant }: TenantRequest): Response {
  requireRight(caller, "read");
  const record = fullRecord(tenant);
  return Response.json(isVerbose(query) ? record : only(record, MODIFIABLE));
}

/**
 * PUT /tenants: creates the tenant, its first user and its first group in one transaction. `onCreated` is called
 * before the response.
 */
export async function createTenant(
  { store, caller, query, body }: MapiRequest,
  onCreated: (tenant: Tenant) => void,
): Promise<void> {
  requireRight(caller, "administer");
  const { name, ...settings } = parsed(NEW, await body());
  const username = parsed(usernameSchema, query.get("username"), "username");
  const passwordMd5 = newPasswordMd5(store, { tenant: null, name: username }, query.get("password"));
  const record = newTenantRecord(settings);
  const firstUser = newUser(username, passwordMd5, {
    fullName: username,
    roles: { role: ["ADMINISTRATOR", "SECURITY"] },
    forcePasswordChange: ["true", "t", "1"].includes(query.get("forcePasswordChange") ?? ""),
  });
  await store.writer.change("createTenant", {
    name,
    record: JSON.stringify(record),
    firstUser,
    firstGroup: firstGroup(query.get("initialSecurityGroup")),
    atMs: store.now(),
  });
  const tenant = store.accounts.tenant(name);
  if (!tenant) throw notFound(`tenant ${name}`);
  onCreated(tenant);
}

/**
 * POST /tenants/{tenant}: members that are left out stay as they are. Its own administrators change its inner
 * settings. Quotas and the choices of its administrators are changed at the system level, which cannot allow itself
 * access to the tenant.
 */
export async function modifyTenant({ store, caller, body, tenant }: TenantRequest): Promise<void> {
  requireRight(caller, "administer");
  const record: Document = parsed(CHANGE, await body());
  const others = caller.tenant ? SYSTEM_ONLY : ["administrationAllowed"];
  for (const member of others) {
    if (record[member] === undefined || isDeepStrictEqual(record[member], tenant.record[member])) continue;
    throw new MapiError(403, `${member} cannot be changed at this level`);
  }
  await store.writer.change("modifyTenant", { tenant: tenant.id, record });
  store.maintenance.runSoon();
}

/** DELETE /tenants/{tenant}, at the system level: rejected while it has namespaces. */
export async function deleteTenant({ store, caller, tenant }: TenantRequest): Promise<void> {
  if (caller.tenant) throw forbidden();
  requireRight(caller, "administer");
  await store.writer.change("deleteTenant", { tenant: tenant.id });
}

/**
 * The group that a query names as the first one of a tenant.
 *
 * @throws {MapiError} 400
 */
function firstGroup(stated: string | null): NewGroup | null {
  if (stated === null || stated === "") return null;
  const record = JSON.stringify({ roles: { role: ["SECURITY"] } });
  return { name: parsed(groupname, stated, "initialSecurityGroup"), guid: randomUUID(), record };
}

function fullRecord(tenant: Tenant): Record<string, unknown> {
  return { name: tenant.name, ...tenant.record, creationTime: mapiTime(tenant.createdMs) };
}

/** There is one way of storing objects. */
const PLANS = [{ name: "Default", description: "Objects are stored in the data folder" }];

/** GET /tenants/{tenant}/availableServicePlans: none where the tenant may not select any. */
export function listServicePlans({ caller, query, tenant }: TenantRequest): Response {
  requireRight(caller, "read");
  return listResponse("name", selected(plansOf(tenant), query, "name"), isVerbose(query));
}

/** GET and HEAD /tenants/{tenant}/availableServicePlans/{plan} */
export function readServicePlan({ caller, tenant, names: [name] }: TenantRequest): Response {
  requireRight(caller, "read");
  const plan = plansOf(tenant).find((one) => folded(one.name) === folded(name));
  if (!plan) throw notFound(`service plan ${name}`);
  return Response.json(plan);
}

function plansOf({ record }: Tenant): typeof PLANS {
  return record.servicePlanSelectionEnabled === false ? [] : PLANS;
}
