import { randomUUID } from "node:crypto";
import { z } from "zod";
import { permissionMask, PERMISSIONS, permissionsOf } from "@/embedded/store/access.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { newUser } from "@/embedded/store/documents.ts";
import { type Group, mayManageNamespaces, SYSTEM, type User } from "@/embedded/store/stored_accounts.ts";
import type { Input } from "@/embedded/store/writer/reported_changes.ts";
import {
  conflicting,
  has,
  invalid,
  isAdministrator,
  isRecovery,
  listResponse,
  type MapiCaller,
  MapiError,
  type MapiMethods,
  type MapiRequest,
  notFound,
  only,
  permittedUser,
  requireMayAppoint,
  requireRight,
  type Right,
  type TenantRequest,
} from "./mapi_request.ts";
import { checkedMd5, newPasswordMd5 } from "./passwords.ts";
import {
  boolean,
  isVerbose,
  list,
  MAX_NAMES,
  members,
  newName,
  oneOf,
  pageByName,
  parsed,
  pathName,
  rule,
  selected,
  text,
  wrapped,
} from "./request_schema.ts";

/** The roles of tenant-level accounts (contract, roles). */
const ROLES = ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"] as const;

const roles = wrapped("role", oneOf(...ROLES));

/** Required members of a new account, beside its name. */
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

const CHANGED_USER = members({ ...REQUIRED, ...OPTIONAL });

const NEW_USER = members(OPTIONAL, { ...REQUIRED, localAuthentication: boolean, username });

const MODIFIABLE = ["fullName", "description", "enabled", "allowNamespaceManagement"];

/** Members that only callers with the right to manage users see. */
const FOR_SECURITY = ["roles", "forcePasswordChange", "userGUID", "userID"];

/** GET /tenants/{tenant}/userAccounts */
export function listUsers({ store, caller, query, tenant }: TenantRequest): Response {
  requireRight(caller, "read");
  const toRecord = (user: User) => userRecord(store, user, caller, true);
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
  const { username: name, ...settings } = parsed(NEW_USER, await body());
  requireMayAppoint(caller, isAdministrator(settings));
  const passwordMd5 = newPasswordMd5(store, { tenant: tenant.id, name }, query.get("password"));
  const user = newUser(name, passwordMd5, settings);
  await store.writer.change("createUser", { tenant: tenant.id, ...user, isRecovery: isRecovery(request) });
}

/** GET and HEAD /tenants/{tenant}/userAccounts/{user}: with the right to read, or one's own. */
export function readUser(request: TenantRequest): Response {
  const { store, caller, query } = request;
  return Response.json(userRecord(store, permittedUser(request, "read"), caller, isVerbose(query)));
}

/** GET and HEAD /userAccounts/{user} at the system level */
export function readSystemUser({ store, caller, query }: MapiRequest, name: string): Response {
  requireRight(caller, "read");
  const user = store.accounts.user(SYSTEM, name);
  if (!user) throw notFound(`user ${name}`);
  return Response.json(userRecord(store, user, caller, isVerbose(query)));
}

/**
 * POST /tenants/{tenant}/userAccounts/{user}?password=: members that are left out stay as they are. A new password, or
 * saying that the account is enabled, opens one that wrong passwords locked.
 */
export async function modifyUser(request: TenantRequest): Promise<void> {
  const { store, caller, query, body } = request;
  requireRight(caller, isRecovery(request) ? "administer" : "manage users");
  const user = permittedUser(request, "manage users");
  const record = parsed(CHANGED_USER, await body());
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

function userRecord(
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

/** Most users of one group, so that a record stays a small document. */
const MAX_MEMBERS = 1000;

const USERNAME_RULE = "must be a user name";

/** A group name by the store's rules. */
export const groupname = newName(
  // deno-lint-ignore no-control-regex
  /^[^\u0000-\u001f:/,]{1,184}$/u,
  "must have 1 to 184 characters without slash, colon or comma and not be a dot segment, or externalGroupID be given",
);

const CHANGEABLE = {
  description: text(1024),
  roles,
  allowNamespaceManagement: boolean,
  /** Users. A directory would name them; here, the group's own record does. */
  members: wrapped("username", z.string(USERNAME_RULE).regex(/^.{0,64}$/su, USERNAME_RULE), MAX_MEMBERS),
};

const CHANGED_GROUP = members(CHANGEABLE);

const NEW_GROUP = members({ groupname, externalGroupID: text(184, 1), ...CHANGEABLE });

/** GET /tenants/{tenant}/groupAccounts */
export function listGroups(request: TenantRequest): Response {
  const { store, caller, query, tenant } = request;
  requireRight(caller, "read");
  const isListOfNames = !isVerbose(query);
  const records = store.accounts.groups(tenant.id).map((group) =>
    isListOfNames ? { groupname: group.name } : groupRecord(group, request)
  );
  return listResponse("groupname", selected(records, query, "groupname"), !isListOfNames);
}

/** PUT /tenants/{tenant}/groupAccounts: a group without a name is called by its external id. */
export async function createGroup(request: TenantRequest): Promise<void> {
  const { store, caller, body, tenant } = request;
  requireRight(caller, "manage users");
  const { groupname: name, members: named, ...record } = parsed(NEW_GROUP, await body());
  requireMayAppoint(caller, isAdministrator(record));
  await store.writer.change("createGroup", {
    tenant: tenant.id,
    name: name ?? parsed(groupname, record.externalGroupID ?? null, "groupname"),
    guid: randomUUID(),
    record: JSON.stringify({ roles: { role: [] }, ...record }),
    members: userIds(request, named?.username ?? []),
  });
}

/** GET and HEAD /tenants/{tenant}/groupAccounts/{group} */
export function readGroup(request: TenantRequest): Response {
  requireRight(request.caller, "read");
  return Response.json(groupRecord(presentGroup(request), request));
}

/** POST /tenants/{tenant}/groupAccounts/{group}: members that are left out stay as they are. */
export async function modifyGroup(request: TenantRequest): Promise<void> {
  const { store, caller, body, tenant } = request;
  requireRight(caller, "manage users");
  const group = presentGroup(request);
  const { members: named, ...record } = parsed(CHANGED_GROUP, await body());
  const members = named ? userIds(request, named.username) : null;
  if (!has(caller, "administer")) {
    const present = store.accounts.memberIds(group.id);
    const isJoined = members?.some((id) => !present.has(id)) === true;
    const becomes = isAdministrator({ ...group.record, ...record });
    requireMayAppoint(caller, becomes && (isJoined || !isAdministrator(group.record)));
    if (isJoined && store.accounts.givesData(tenant.id, group)) {
      throw new MapiError(403, "Only an ADMINISTRATOR may add members to a group that gives access to data");
    }
  }
  await store.writer.change("modifyGroup", { group: group.id, record, members });
}

/** DELETE /tenants/{tenant}/groupAccounts/{group} */
export async function deleteGroup(request: TenantRequest): Promise<void> {
  requireRight(request.caller, "manage users");
  await request.store.writer.change("deleteGroup", { group: presentGroup(request).id });
}

/**
 * The group of a path.
 *
 * @throws {MapiError} 404
 */
function presentGroup({ store, tenant, names: [name] }: TenantRequest): Group {
  const group = store.accounts.group(tenant.id, name);
  if (!group) throw notFound(`group ${name}`);
  return group;
}

/**
 * The ids of a tenant's users.
 *
 * @throws {MapiError} 400
 */
function userIds({ store, tenant }: TenantRequest, usernames: readonly string[]): number[] {
  return usernames.map((username) => {
    const user = store.accounts.user(tenant.id, username);
    if (!user) throw invalid("members", "may hold only users of the tenant");
    return user.id;
  });
}

/** Roles and members are shown to those who may manage users, as the roles of users are. */
function groupRecord(group: Group, { store, caller }: MapiRequest): Record<string, unknown> {
  const record = {
    groupname: group.name,
    ...group.record,
    members: { username: store.accounts.memberNames(group.id) },
  };
  if (has(caller, "manage users")) return record;
  return only(record, Object.keys(record).filter((member) => member !== "roles" && member !== "members"));
}

const GRANTS = members({}, {
  namespacePermission: list(
    members({}, {
      namespaceName: z.string(rule("must be a string")),
      permissions: wrapped("permission", oneOf(...PERMISSIONS)),
    }),
    MAX_NAMES,
  ),
});

/**
 * The data access permissions of a user or a group. Users may read their own. POST replaces those in the named
 * namespaces.
 */
export function permissionMethods(of: "user" | "group"): MapiMethods {
  const account = (request: TenantRequest, right: Right) => {
    if (of === "user") return { user: permittedUser(request, right).id };
    requireRight(request.caller, right);
    return { group: presentGroup(request).id };
  };
  return {
    GET: (request) => permissionsResponse(request.store.buckets.grantsTo(account(request, "read")), request),
    POST: async (request) => {
      requireRight(request.caller, "administer");
      const to = account(request, "administer");
      await request.store.writer.change("setGrants", { to, grants: await readGrants(request) });
    },
  };
}

function permissionsResponse(masks: ReadonlyMap<number, number>, { store, query, tenant }: TenantRequest): Response {
  const records = store.buckets.ofTenant(tenant.id).flatMap(({ id, name, record }) => {
    const mask = masks.get(id);
    return mask === undefined ? [] : [{ name, hardQuota: record.hardQuota, mask }];
  });
  const namespacePermission = selected(records, query, "name").map(({ name, mask }) => ({
    namespaceName: name,
    permissions: { permission: permissionsOf(mask) },
  }));
  return Response.json({ namespacePermission });
}

/**
 * The grants of a body, with the permissions that they imply.
 *
 * @throws {MapiError} 400, 409 for an absent namespace
 */
async function readGrants({ store, body, tenant }: TenantRequest): Promise<Input<"setGrants">["grants"]> {
  const { namespacePermission } = parsed(GRANTS, await body());
  const masks = new Map<number, number>();
  for (const { namespaceName, permissions } of namespacePermission) {
    const bucket = store.buckets.bucket(tenant.id, namespaceName);
    if (!bucket) throw conflicting("namespaceName", "must be that of a namespace of the tenant");
    if (masks.has(bucket.id)) throw invalid("namespaceName", "may be named once");
    masks.set(bucket.id, permissionMask(permissions.permission));
  }
  return [...masks].map(([bucket, permissions]) => ({ bucket, permissions }));
}
