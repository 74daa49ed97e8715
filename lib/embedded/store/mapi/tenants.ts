import { randomUUID } from "node:crypto";
import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import { CONSOLE_SECURITY_DEFAULTS } from "@/lib/embedded/store/console_security.ts";
import { isVerbose, selected } from "@/lib/embedded/store/mapi/list_parameters.ts";
import { demand } from "@/lib/embedded/store/mapi/mapi_caller.ts";
import { absent, invalid, MapiError } from "@/lib/embedded/store/mapi/mapi_error.ts";
import { readGroupname } from "@/lib/embedded/store/mapi/groups.ts";
import { listAnswer, type MapiRequest, mapiTime, only } from "@/lib/embedded/store/mapi/mapi_request.ts";
import {
  boolean,
  integer,
  type Members,
  quota,
  readMembers,
  tags,
  text,
  wrapped,
} from "@/lib/embedded/store/mapi/members.ts";
import { newPasswordMd5 } from "@/lib/embedded/store/mapi/passwords.ts";
import { newUserRecord, readUsername } from "@/lib/embedded/store/mapi/users.ts";
import { isHostLabel } from "@/lib/embedded/store/names.ts";
import type { NewGroup } from "@/lib/embedded/store/writer/changes.ts";

const MEMBERS: Members = {
  systemVisibleDescription: text(1024),
  tenantVisibleDescription: text(1024),
  hardQuota: quota,
  softQuota: integer(0, 100),
  namespaceQuota,
  authenticationTypes: wrapped("authenticationType", ["LOCAL", "RADIUS", "EXTERNAL"]),
  complianceConfigurationEnabled: boolean,
  versioningConfigurationEnabled: boolean,
  searchConfigurationEnabled: boolean,
  replicationConfigurationEnabled: boolean,
  erasureCodingSelectionEnabled: boolean,
  servicePlanSelectionEnabled: boolean,
  servicePlan: text(64),
  administrationAllowed: boolean,
  maxNamespacesPerUser: integer(0, 10_000),
  snmpLoggingEnabled: boolean,
  syslogLoggingEnabled: boolean,
  tags,
};

const DEFAULTS = {
  systemVisibleDescription: "",
  tenantVisibleDescription: "",
  hardQuota: "100 GB",
  softQuota: 85,
  namespaceQuota: "None",
  authenticationTypes: { authenticationType: ["LOCAL"] },
  complianceConfigurationEnabled: true,
  versioningConfigurationEnabled: true,
  searchConfigurationEnabled: true,
  replicationConfigurationEnabled: false,
  servicePlan: "Default",
  administrationAllowed: false,
  maxNamespacesPerUser: 100,
  snmpLoggingEnabled: false,
  syslogLoggingEnabled: false,
  tags: { tag: [] },
};

/** What a tenant's record shows when not everything is asked for: what can be changed. */
const MODIFIABLE = [
  "administrationAllowed",
  "maxNamespacesPerUser",
  "snmpLoggingEnabled",
  "syslogLoggingEnabled",
  "tenantVisibleDescription",
];

/** What the system level decides, and a tenant's own administrators may only repeat. */
const OF_THE_SYSTEM = Object.keys(MEMBERS).filter((member) => !MODIFIABLE.includes(member) && member !== "tags");

/** The settings of a new tenant: those given over the defaults. */
export function newTenantRecord(given: Record<string, unknown>): Record<string, unknown> {
  return { ...DEFAULTS, id: randomUUID(), ...given };
}

/** GET /tenants */
export function listTenants({ store, caller, query }: MapiRequest): Response {
  demand(caller, "read");
  return listAnswer("name", selected(store.accounts.tenants().map(fullRecord), query, "name"), isVerbose(query));
}

/** GET and HEAD /tenants/{tenant} */
export function readTenant(tenant: Tenant, { caller, query }: MapiRequest): Response {
  demand(caller, "read");
  const record = fullRecord(tenant);
  return Response.json(isVerbose(query) ? record : only(record, MODIFIABLE));
}

/** PUT /tenants: makes the tenant, its first user and its first group in one. `onCreated` is awaited before the answer. */
export async function createTenant(
  { store, caller, query, body }: MapiRequest,
  onCreated: (tenant: Tenant) => Promise<void>,
): Promise<Response> {
  demand(caller, "administer");
  const given = await body();
  const name = given.name;
  if (typeof name !== "string" || !isHostLabel(name)) {
    throw invalid("name", "must have 1 to 63 letters, digits and inner hyphens");
  }
  const username = readUsername(query.get("username"));
  const rules = CONSOLE_SECURITY_DEFAULTS;
  const passwordMd5 = newPasswordMd5(query.get("password"), rules, { username, former: [] });
  const record = newTenantRecord(readMembers(given, MEMBERS));
  const firstUser = {
    name: username,
    guid: randomUUID(),
    passwordMd5,
    record: JSON.stringify(newUserRecord({
      fullName: username,
      roles: { role: ["ADMINISTRATOR", "SECURITY"] },
      forcePasswordChange: ["true", "t", "1"].includes(query.get("forcePasswordChange") ?? ""),
    })),
  };
  await store.writer.change("createTenant", {
    name,
    record: JSON.stringify(record),
    firstUser,
    firstGroup: firstGroup(query.get("initialSecurityGroup")),
    atMs: store.now(),
  });
  const tenant = store.accounts.tenant(name);
  if (!tenant) throw absent(`tenant ${name}`);
  await onCreated(tenant);
  return new Response(null);
}

/**
 * POST /tenants/{tenant}: members that are not given stay as they are. Its own administrators change what concerns its
 * inside; quotas and what its administrators may select are for the system level, which cannot let itself in.
 */
export async function modifyTenant(tenant: Tenant, { store, caller, body }: MapiRequest): Promise<Response> {
  demand(caller, "administer");
  const record = readMembers(await body(), MEMBERS);
  const others = caller.tenant ? OF_THE_SYSTEM : ["administrationAllowed"];
  for (const member of others) {
    if (record[member] === undefined || isSame(record[member], tenant.record[member])) continue;
    throw new MapiError(403, `${member} cannot be changed at this level`);
  }
  await store.writer.change("modifyTenant", { tenant: tenant.id, record });
  store.upkeep.soon();
  return new Response(null);
}

/** DELETE /tenants/{tenant}: refused while it has namespaces. */
export async function deleteTenant(tenant: Tenant, { store, caller }: MapiRequest): Promise<Response> {
  demand(caller, "administer");
  await store.writer.change("deleteTenant", { tenant: tenant.id });
  return new Response(null);
}

/** A number from 1 to 10000 as text, or None. Throws 400. */
function namespaceQuota(value: unknown, name: string): string {
  const quota = typeof value === "number" ? String(value) : value;
  if (typeof quota !== "string" || !(quota === "None" || /^(?:[1-9]\d{0,3}|10000)$/.test(quota))) {
    throw invalid(name, "must be a whole number from 1 to 10000, or None");
  }
  return quota;
}

/** The group that a query names as the first one of a tenant. Throws 400. */
function firstGroup(given: string | null): NewGroup | null {
  if (given === null || given === "") return null;
  const record = JSON.stringify({ roles: { role: ["SECURITY"] } });
  return { name: readGroupname(given), guid: randomUUID(), record };
}

function isSame(given: unknown, present: unknown): boolean {
  return JSON.stringify(given) === JSON.stringify(present);
}

function fullRecord(tenant: Tenant): Record<string, unknown> {
  return { name: tenant.name, ...tenant.record, creationTime: mapiTime(tenant.createdMs) };
}
