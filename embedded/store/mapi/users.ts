import { randomUUID } from "node:crypto";
import { newUserRecord } from "@/embedded/store/account_records.ts";
import { mayManageNamespaces, type Tenant, type User } from "@/embedded/store/accounts.ts";
import { consoleSecurity } from "@/embedded/store/console_security.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { boolean, members, oneOf, parsed, pathName, text, wrapped } from "./body_schema.ts";
import { isVerbose, pageByName, selected } from "./list_parameters.ts";
import { has, isAdministrator, type MapiCaller, requireMayAppoint, requireRight } from "./mapi_caller.ts";
import { invalid, notFound } from "./mapi_error.ts";
import { listResponse, type MapiRequest, only } from "./mapi_request.ts";
import { newPasswordMd5 } from "./passwords.ts";
import { checkedMd5 } from "./user_passwords.ts";

/** The roles of tenant-level accounts (contract, roles). */
const ROLES = ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"] as const;

export const roles = wrapped("role", oneOf(...ROLES));

const CHANGEABLE = {
  fullName: text(64, 1),
  description: text(1024),
  enabled: boolean,
  forcePasswordChange: boolean,
  roles,
  allowNamespaceManagement: boolean,
};

/** A user name by the store's rules. */
export const username = pathName(
  // deno-lint-ignore no-control-regex
  /^[^[\u0000-\u001f:/,][^\u0000-\u001f:/,]{0,63}$/u,
  'must have 1 to 64 characters, not begin with "[", hold no slash, colon or comma, and not be a dot segment',
);

const CHANGE = members(CHANGEABLE);

const NEW = members({ ...CHANGEABLE, localAuthentication: boolean }, { username });

/** What a new account must say. */
const REQUIRED = ["fullName", "localAuthentication", "enabled", "forcePasswordChange"];

const MODIFIABLE = ["fullName", "description", "enabled", "allowNamespaceManagement"];

/** Members that only callers with the right to manage users see. */
const FOR_SECURITY = ["roles", "forcePasswordChange", "userGUID", "userID"];

/** GET /tenants/{tenant}/userAccounts */
export function listUsers(tenant: Tenant, { store, caller, query }: MapiRequest): Response {
  requireRight(caller, "read");
  const toRecord = (user: User) => publicRecord(store, user, caller, true);
  const page = pageByName(query, "username");
  const records = page
    ? store.accounts.usersPage(tenant.id, page).map(toRecord)
    : selected(store.accounts.users(tenant.id).map(toRecord), query, "username");
  return listResponse("username", records, isVerbose(query));
}

/** PUT /tenants/{tenant}/userAccounts?password= */
export async function createUser(tenant: Tenant, { store, caller, query, body }: MapiRequest): Promise<Response> {
  requireRight(caller, "manage users");
  const given = await body();
  for (const member of REQUIRED) if (!Object.hasOwn(given, member)) throw invalid(member, "is required");
  const { username: name, ...settings } = parsed(NEW, given);
  const record = newUserRecord(settings);
  requireMayAppoint(caller, isAdministrator(record));
  await store.writer.change("createUser", {
    tenant: tenant.id,
    name,
    guid: randomUUID(),
    passwordMd5: newPasswordMd5(query.get("password"), consoleSecurity(store.documents, tenant.id), {
      username: name,
      former: [],
    }),
    record: JSON.stringify(record),
  });
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/userAccounts/{user}: with the right to read, or one's own. */
export function readUser(tenant: Tenant, name: string, { store, caller, query }: MapiRequest): Response {
  const user = store.accounts.user(tenant.id, name);
  if (user?.id !== caller.user.id) requireRight(caller, "read");
  if (!user) throw notFound(`user ${name}`);
  return Response.json(publicRecord(store, user, caller, isVerbose(query)));
}

/**
 * POST /tenants/{tenant}/userAccounts/{user}?password=: members that are not given stay as they are. A new password, or
 * saying that the account is enabled, opens one that wrong passwords locked.
 */
export async function modifyUser(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  const { store, caller, query, body } = request;
  requireRight(caller, "manage users");
  const user = store.accounts.user(tenant.id, name);
  if (!user) throw notFound(`user ${name}`);
  const record = parsed(CHANGE, await body());
  const becomes = isAdministrator(record) && !isAdministrator(user.record);
  requireMayAppoint(caller, becomes);
  if (becomes) record.allowNamespaceManagement ??= true;
  const password = query.get("password") || null;
  await store.writer.change("modifyUser", {
    user: user.id,
    record,
    passwordMd5: password === null ? null : checkedMd5(user, password, request, "password"),
    unlock: record.enabled === true,
  });
  return new Response(null);
}

/** DELETE /tenants/{tenant}/userAccounts/{user} */
export async function deleteUser(tenant: Tenant, name: string, { store, caller }: MapiRequest): Promise<Response> {
  requireRight(caller, "manage users");
  const user = store.accounts.user(tenant.id, name);
  if (!user) throw notFound(`user ${name}`);
  await store.writer.change("deleteUser", { user: user.id });
  return new Response(null);
}

function publicRecord(
  { logins }: StoreContext,
  user: User,
  caller: MapiCaller,
  verbose: boolean,
): Record<string, unknown> {
  const whole: Record<string, unknown> = {
    username: user.name,
    ...user.record,
    enabled: user.record.enabled !== false && !logins.isLocked(user),
    allowNamespaceManagement: mayManageNamespaces(user),
    userGUID: user.guid,
    userID: user.id,
  };
  const record = verbose ? whole : only(whole, [...MODIFIABLE, ...FOR_SECURITY.slice(0, 2)]);
  if (user.id === caller.user.id || has(caller, "manage users")) return record;
  return only(record, Object.keys(record).filter((member) => !FOR_SECURITY.includes(member)));
}
