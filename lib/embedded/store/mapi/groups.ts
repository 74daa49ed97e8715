import { randomUUID } from "node:crypto";
import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import type { Group } from "@/lib/embedded/store/groups.ts";
import { demandMayAppoint, isAdministrator } from "@/lib/embedded/store/mapi/administrators.ts";
import { isVerbose, selected } from "@/lib/embedded/store/mapi/list_parameters.ts";
import { demand, has } from "@/lib/embedded/store/mapi/mapi_caller.ts";
import { absent, invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import { listAnswer, type MapiRequest, only } from "@/lib/embedded/store/mapi/mapi_request.ts";
import { boolean, type Members, readMembers, text, wrapped } from "@/lib/embedded/store/mapi/members.ts";
import { ROLES } from "@/lib/embedded/store/mapi/users.ts";
import { isPathSegment } from "@/lib/embedded/store/names.ts";

/** Most users of one group, so that a record stays a small document. */
const MAX_MEMBERS = 1000;

/** What of a group may be changed. */
const MODIFIABLE: Members = {
  description: text(1024),
  roles: wrapped("role", ROLES),
  allowNamespaceManagement: boolean,
};

const MEMBERS: Members = { externalGroupID: text(184, 1), ...MODIFIABLE };

/** Whom a directory would name: here, the group's own record says who is in it. */
const IN_GROUP: Members = { members: wrapped("username", undefined, MAX_MEMBERS) };

/** GET /tenants/{tenant}/groupAccounts */
export function listGroups(tenant: Tenant, request: MapiRequest): Response {
  const { store, caller, query } = request;
  demand(caller, "read");
  const isListOfNames = !isVerbose(query);
  const records = store.groups.ofTenant(tenant.id).map((group) =>
    isListOfNames ? { groupname: group.name } : shownRecord(group, request)
  );
  return listAnswer("groupname", selected(records, query, "groupname"), !isListOfNames);
}

/** PUT /tenants/{tenant}/groupAccounts: a group without a name is called by its external id. */
export async function createGroup(tenant: Tenant, request: MapiRequest): Promise<Response> {
  const { store, caller, body } = request;
  demand(caller, "manage users");
  const given = await body();
  const record = readMembers(given, MEMBERS);
  demandMayAppoint(caller, isAdministrator(record));
  await store.writer.change("createGroup", {
    tenant: tenant.id,
    name: readGroupname(given.groupname ?? record.externalGroupID),
    guid: randomUUID(),
    record: JSON.stringify({ roles: { role: [] }, ...record }),
    members: readUsers(tenant, request, given) ?? [],
  });
  return new Response(null);
}

/** GET and HEAD /tenants/{tenant}/groupAccounts/{group} */
export function readGroup(tenant: Tenant, name: string, request: MapiRequest): Response {
  demand(request.caller, "read");
  return Response.json(shownRecord(presentGroup(tenant, name, request), request));
}

/** POST /tenants/{tenant}/groupAccounts/{group}: what is not given stays as it is. */
export async function modifyGroup(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  const { store, caller, body } = request;
  demand(caller, "manage users");
  const group = presentGroup(tenant, name, request);
  const given = await body();
  const record = readMembers(given, MODIFIABLE);
  const members = readUsers(tenant, request, given);
  if (isAdministrator({ ...group.record, ...record })) {
    const present = store.groups.memberIds(group.id);
    demandMayAppoint(caller, !isAdministrator(group.record) || members?.some((id) => !present.has(id)) === true);
  }
  await store.writer.change("modifyGroup", { group: group.id, record, members });
  return new Response(null);
}

/** DELETE /tenants/{tenant}/groupAccounts/{group} */
export async function deleteGroup(tenant: Tenant, name: string, request: MapiRequest): Promise<Response> {
  demand(request.caller, "manage users");
  await request.store.writer.change("deleteGroup", { group: presentGroup(tenant, name, request).id });
  return new Response(null);
}

/** The group of a path. Throws 404. */
export function presentGroup(tenant: Tenant, name: string, { store }: MapiRequest): Group {
  const group = store.groups.group(tenant.id, name);
  if (!group) throw absent(`group ${name}`);
  return group;
}

/** A group name by the store's rules. Throws 400. */
export function readGroupname(value: unknown): string {
  // deno-lint-ignore no-control-regex
  if (typeof value !== "string" || !/^[^\u0000-\u001f:/,]{1,184}$/u.test(value) || !isPathSegment(value)) {
    throw invalid(
      "groupname",
      "must have 1 to 184 characters without slash, colon or comma and not be a dot segment, or externalGroupID be given",
    );
  }
  return value;
}

/** The numbers of the users that a body says are in the group; null where it does not say. Throws 400. */
function readUsers(tenant: Tenant, { store }: MapiRequest, given: Record<string, unknown>): number[] | null {
  const members = readMembers(given, IN_GROUP).members as { username: string[] } | undefined;
  if (!members) return null;
  return members.username.map((username) => {
    const user = store.accounts.user(tenant.id, username);
    if (!user) throw invalid("members", "may hold only users of the tenant");
    return user.id;
  });
}

/** Roles and members are shown to those who may manage users, as the roles of users are. */
function shownRecord(group: Group, { store, caller }: MapiRequest): Record<string, unknown> {
  const record = { groupname: group.name, ...group.record, members: { username: store.groups.members(group.id) } };
  if (has(caller, "manage users")) return record;
  return only(record, Object.keys(record).filter((member) => member !== "roles" && member !== "members"));
}
