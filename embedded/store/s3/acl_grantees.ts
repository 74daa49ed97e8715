import type { User } from "@/embedded/store/accounts.ts";
import type { Acl, AclGrant, Grantee } from "@/embedded/store/acl.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import type { NamedGrant, NamedGrantee } from "./acl_headers.ts";
import type { DisplayedGrant } from "./acl_xml.ts";
import { S3Error } from "./s3_error.ts";

/** S3's own groups (S3 API, access control lists). */
export const ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers";
export const AUTHENTICATED_USERS = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";

/** What comes before the percent-encoded name of a group account in its URI. */
export const GROUP_URI = "http://stackroom.dev/groups/";

/**
 * Grants with the GUIDs of present accounts of the tenant, as they are stored.
 *
 * @throws {S3Error} InvalidArgument
 */
export function resolveGrants(store: StoreContext, tenant: number, grants: readonly NamedGrant[]): Acl {
  return grants.map(({ grantee, permission }) => ({ grantee: resolveGrantee(store, tenant, grantee), permission }));
}

/** Stored grants for display, groups first as in S3. Those to deleted accounts are left out, as they grant nothing. */
export function displayedGrants(store: StoreContext, tenant: number, acl: Acl): DisplayedGrant[] {
  const users = new Map<string, User | null>();
  return acl.flatMap((grant) => shown(store, tenant, grant, users) ?? [])
    .sort((a, b) => Number("id" in a.grantee) - Number("id" in b.grantee));
}

function resolveGrantee({ accounts, groups }: StoreContext, tenant: number, grantee: NamedGrantee): Grantee {
  if ("id" in grantee) {
    const user = accounts.userByGuid(tenant, grantee.id.toLowerCase());
    if (!user) throw new S3Error("InvalidArgument", "The ID of a grantee is not that of a user of the tenant");
    return { user: user.guid };
  }
  if (grantee.uri === ALL_USERS) return "everybody";
  if (grantee.uri === AUTHENTICATED_USERS) return "users";
  const name = grantee.uri.startsWith(GROUP_URI) ? percentDecoded(grantee.uri.slice(GROUP_URI.length)) : null;
  const group = name === null ? null : groups.group(tenant, name);
  if (!group) throw new S3Error("InvalidArgument", "The URI of a grantee is not that of a group");
  return { group: group.guid };
}

function shown(
  { accounts, groups }: StoreContext,
  tenant: number,
  { grantee, permission }: AclGrant,
  users: Map<string, User | null>,
): DisplayedGrant | null {
  if (grantee === "everybody") return { grantee: { uri: ALL_USERS }, permission };
  if (grantee === "users") return { grantee: { uri: AUTHENTICATED_USERS }, permission };
  if ("group" in grantee) {
    const group = groups.groupByGuid(tenant, grantee.group);
    return group && { grantee: { uri: GROUP_URI + encodeURIComponent(group.name) }, permission };
  }
  const known = users.get(grantee.user);
  const user = known === undefined ? accounts.userByGuid(tenant, grantee.user) : known;
  users.set(grantee.user, user);
  return user && { grantee: { id: user.guid }, permission, displayName: user.name };
}
