import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Group } from "@/embedded/store/groups.ts";
import { boolean, members, newName, parsed, text, wrapped } from "./body_schema.ts";
import { isVerbose, selected } from "./list_parameters.ts";
import { has, isAdministrator, requireMayAppoint, requireRight } from "./mapi_caller.ts";
import { invalid, MapiError, notFound } from "./mapi_error.ts";
import { listResponse, type MapiRequest, only, type TenantRequest } from "./mapi_request.ts";
import { roles } from "./users.ts";

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

const CHANGE = members(CHANGEABLE);

const NEW = members({ groupname, externalGroupID: text(184, 1), ...CHANGEABLE });

/** GET /tenants/{tenant}/groupAccounts */
export function listGroups(request: TenantRequest): Response {
  const { store, caller, query, tenant } = request;
  requireRight(caller, "read");
  const isListOfNames = !isVerbose(query);
  const records = store.groups.ofTenant(tenant.id).map((group) =>
    isListOfNames ? { groupname: group.name } : publicRecord(group, request)
  );
  return listResponse("groupname", selected(records, query, "groupname"), !isListOfNames);
}

/** PUT /tenants/{tenant}/groupAccounts: a group without a name is called by its external id. */
export async function createGroup(request: TenantRequest): Promise<void> {
  const { store, caller, body, tenant } = request;
  requireRight(caller, "manage users");
  const { groupname: name, members: named, ...record } = parsed(NEW, await body());
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
  return Response.json(publicRecord(presentGroup(request), request));
}

/** POST /tenants/{tenant}/groupAccounts/{group}: members that are left out stay as they are. */
export async function modifyGroup(request: TenantRequest): Promise<void> {
  const { store, caller, body, tenant } = request;
  requireRight(caller, "manage users");
  const group = presentGroup(request);
  const { members: named, ...record } = parsed(CHANGE, await body());
  const members = named ? userIds(request, named.username) : null;
  if (!has(caller, "administer")) {
    const present = store.groups.memberIds(group.id);
    const isJoined = members?.some((id) => !present.has(id)) === true;
    const becomes = isAdministrator({ ...group.record, ...record });
    requireMayAppoint(caller, becomes && (isJoined || !isAdministrator(group.record)));
    if (isJoined && store.groups.givesData(tenant.id, group)) {
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
export function presentGroup({ store, tenant, names: [name] }: TenantRequest): Group {
  const group = store.groups.group(tenant.id, name);
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
function publicRecord(group: Group, { store, caller }: MapiRequest): Record<string, unknown> {
  const record = { groupname: group.name, ...group.record, members: { username: store.groups.members(group.id) } };
  if (has(caller, "manage users")) return record;
  return only(record, Object.keys(record).filter((member) => member !== "roles" && member !== "members"));
}
