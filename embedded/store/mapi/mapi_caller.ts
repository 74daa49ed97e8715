import { createHash, timingSafeEqual } from "node:crypto";
import { mayManageNamespaces, rolesOf, SYSTEM, type Tenant, type User } from "@/embedded/store/accounts.ts";
import type { ChangeOrigin } from "@/embedded/store/reported_change.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { Group } from "@/embedded/store/groups.ts";
import { forbidden, MapiError } from "./mapi_error.ts";

/** The caller of the management API, at the level of the called port. */
export interface MapiCaller {
  user: User;
  /** The groups that the user is in: their roles are the user's, too. */
  groups: readonly Group[];
  /** The tenant whose port was called; null at the system level. */
  tenant: Tenant | null;
}

/** What a role may do, in the words of the contract's table of roles. */
export type Right = "administer" | "manage users" | "comply" | "read figures" | "read";

const RIGHTS: Record<Right, readonly string[]> = {
  administer: ["ADMINISTRATOR"],
  "manage users": ["ADMINISTRATOR", "SECURITY"],
  comply: ["ADMINISTRATOR", "COMPLIANCE"],
  "read figures": ["ADMINISTRATOR", "MONITOR"],
  read: ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"],
};

/**
 * Checks `Authorization: HCP base64(user):md5(password)` or `AD user:password`; wrong passwords are counted.
 *
 * @param client whom a failed login is recorded of
 * @throws {MapiError} 403, as the store does for whatever is wrong
 */
export async function authenticateMapi(
  header: string | null,
  { accounts, groups, logins, loginFailed }: StoreContext,
  tenant: Tenant | null,
  { isByGateway, ...client }: Pick<ChangeOrigin, "address" | "requestId" | "isByGateway">,
): Promise<MapiCaller> {
  const stated = statedCredentials(header);
  if (!stated) throw forbidden();
  const user = await logins.attempt(
    () => accounts.user(tenant?.id ?? SYSTEM, stated.username),
    (user) => isPassword(user, stated.passwordMd5),
  );
  if (user === "closed" || user === "wrong") {
    if (!isByGateway) {
      loginFailed({ ...client, tenant: tenant?.name ?? null, name: stated.username, protocol: "mapi" });
    }
    throw forbidden();
  }
  return { user, groups: groups.ofUser(user.id), tenant };
}

/** Whether a hexadecimal MD5 is that of a user's password. */
export function isPassword(user: User, passwordMd5: string): boolean {
  const [sent, stored] = [passwordMd5, user.passwordMd5].map((md5) => createHash("sha256").update(md5).digest());
  return timingSafeEqual(sent, stored);
}

/** Whether a caller's roles give a right. */
export function has(caller: MapiCaller, right: Right): boolean {
  return [caller.user, ...caller.groups].some((one) => rolesOf(one).some((role) => RIGHTS[right].includes(role)));
}

/** Whether a caller may create namespaces, alone or as a member of a group. */
export function managesNamespaces({ user, groups }: MapiCaller): boolean {
  return [user, ...groups].some(mayManageNamespaces);
}

/** @throws {MapiError} 403 unless a caller's roles give a right */
export function requireRight(caller: MapiCaller, right: Right): void {
  if (!has(caller, right)) throw forbidden();
}

function statedCredentials(header: string | null): { username: string; passwordMd5: string } | null {
  const native = /^HCP ([A-Za-z0-9+/]*={0,2}):([0-9a-f]{32})$/.exec(header ?? "");
  if (native && native[1].length % 4 === 0) {
    const bytes = Uint8Array.from(atob(native[1]), (character) => character.charCodeAt(0));
    return { username: new TextDecoder().decode(bytes), passwordMd5: native[2] };
  }
  const plain = /^AD ([^:]+):(.*)$/s.exec(header ?? "");
  if (!plain) return null;
  // Header values arrive as Latin-1 characters, one for each byte of the UTF-8 that was sent.
  const [username, password] = plain.slice(1).map((text) =>
    new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)))
  );
  return { username, passwordMd5: createHash("md5").update(password).digest("hex") };
}

/**
 * Whether the system level acts in a tenant that does not let it in: only to give it an administrator where it has none.
 */
export function isRecovery({ caller, tenant }: { readonly caller: MapiCaller; readonly tenant: Tenant }): boolean {
  return caller.tenant === null && tenant.record.administrationAllowed !== true;
}

const ADMINISTRATOR = "ADMINISTRATOR";

/** Whether a record of a user or a group has the role ADMINISTRATOR; absent records have none. */
export function isAdministrator(record: Readonly<Record<string, unknown>> | undefined): boolean {
  return record !== undefined && rolesOf({ record }).includes(ADMINISTRATOR);
}

/**
 * Lets only administrators assign the role ADMINISTRATOR: a caller who may only manage users could otherwise assign it
 * to itself.
 *
 * @param isAssigned whether the change makes a user an administrator who was not one before
 * @throws MapiError 403
 */
export function requireMayAppoint(caller: MapiCaller, isAssigned: boolean): void {
  if (isAssigned && !has(caller, "administer")) {
    throw new MapiError(
      403,
      `Only an ${ADMINISTRATOR} may give the role ${ADMINISTRATOR}, by an account or by a group`,
    );
  }
}
