import { randomUUID } from "node:crypto";
import { newUserRecord } from "@/embedded/store/account_records.ts";
import { mayManageNamespaces, SYSTEM, type User } from "@/embedded/store/accounts.ts";
import { consoleSecurity } from "@/embedded/store/console_security.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { boolean, members, newName, oneOf, parsed, pathName, text, wrapped } from "./body_schema.ts";
import { isVerbose, pageByName, selected } from "./list_parameters.ts";
import { has, isAdministrator, isRecovery, type MapiCaller, requireMayAppoint, requireRight } from "./mapi_caller.ts";
import { notFound } from "./mapi_error.ts";
import { listResponse, type MapiRequest, only, permittedUser, type TenantRequest } from "./mapi_request.ts";
import { newPasswordMd5 } from "./passwords.ts";
import { checkedMd5 } from "./user_passwords.ts";

/** The roles of tenant-level accounts (contract, roles). */
const ROLES = ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"] as const;

export const roles = wrapped("role", oneOf(...ROLES));

/** What a new account must state beside its name. */
const REQUIRED = { fullName: text(64, 1), enabled: boolean, forcePasswordChange: boolean };

const OPTIONAL = { description: text(1024), roles, allowNamespaceManagement: boolean };

const USERNAME = [
  // deno-lint-ignore no-control-regex
  /^[^[\u0000-\u001f:/,][^\u0000-\u001f:/,]{0,63}$/u,
  'must have 1 to 64 characters, not begin with "[", hold no slash, colon or comma, and not be a dot segment',
] as const;

/** The name of an existing user by the store's rules. */
export const existingUsername = pathName(...USERNAME);

/** The name of a new user. */
export const username = newName(...USERNAME);

const CHANGE = members({ ...REQUIRED, ...OPTIONAL });

const NEW = members(OPTIONAL, { ...REQUIRED, localAuthentication: boolean, username });

const MODIFIABLE = ["fullName", "description", "enabled", "allowNamespaceManagement"];

/** Members that only callers with the right to manage users see. */
const FOR_SECURITY = ["roles", "forcePasswordChange", "userGUID", "userID"];

/** GET /tenants/{tenant}/userAccounts */
export function listUsers({ store, caller, query, tenant }: TenantRequest): Response {
  requireRight(caller, "read");
  const toRecord = (user: User) => publicRecord(store, user, caller, true);
  const page = pageByName(query, "username");
  const records = page
    ? store.accounts.usersPage(tenant.id, page).map(toRecord)
    : selected(store.accounts.users(tenant.id).map(toRecord), query, "username");
  return listResponse("username", records, isVerbose(query));
}

/** PUT /tenants/{tenant}/userAccounts?password= */
export async function createUser(request: TenantRequest): Promise<void> {
  const { store, caller, query, body, tenant } = request;
  requireRight(caller, isRecovery(request) ? "administer" : "manage users");
  const { username: name, ...settings } = parsed(NEW, await body());
  const record = newUserRecord(settings);
  requireMayAppoint(caller, isAdministrator(record));
  await store.writer.change("createUser", {
    tenant: tenant.id,
    name,
    guid: randomUUID(),
    passwordMd5: newPasswordMd5(query.get("password"), consoleSecurity(store.documents, tenant.id), {
      username: name,
      former: [],
      publicPasswords: store.publicPasswords,
    }),
    record: JSON.stringify(record),
    isRecovery: isRecovery(request),
  });
}

/** GET and HEAD /tenants/{tenant}/userAccounts/{user}: with the right to read, or one's own. */
export function readUser(request: TenantRequest): Response {
  const { store, caller, query } = request;
  return Response.json(publicRecord(store, permittedUser(request, "read"), caller, isVerbose(query)));
}

/** GET and HEAD /userAccounts/{user} at the system level */
export function readSystemUser({ store, caller, query }: MapiRequest, name: string): Response {
  requireRight(caller, "read");
  const user = store.accounts.user(SYSTEM, name);
  if (!user) throw notFound(`user ${name}`);
  return Response.json(publicRecord(store, user, caller, isVerbose(query)));
}

/**
 * POST /tenants/{tenant}/userAccounts/{user}?password=: members that are left out stay as they are. A new password, or
 * saying that the account is enabled, opens one that wrong passwords locked.
 */
export async function modifyUser(request: TenantRequest): Promise<void> {
  const { store, caller, query, body } = request;
  requireRight(caller, isRecovery(request) ? "administer" : "manage users");
  const user = permittedUser(request, "manage users");
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
    isRecovery: isRecovery(request),
  });
}

/** DELETE /tenants/{tenant}/userAccounts/{user} */
export async function deleteUser(request: TenantRequest): Promise<void> {
  requireRight(request.caller, "manage users");
  await request.store.writer.change("deleteUser", { user: permittedUser(request, "manage users").id });
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
