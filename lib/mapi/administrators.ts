import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { forbidden, HttpError } from "@/lib/http/errors.ts";
import { callMapi, type Mapi, type MapiPath, mapiPath } from "./mapi_client.ts";
import type { StoreQuery } from "@/lib/mapi/records/fields.ts";

/** Roles whose accounts read the audit trail of their tenant. */
const READERS: ReadonlySet<string> = new Set(["ADMINISTRATOR", "SECURITY"]);

/** Statuses for a missing right, and for resources that the store does not have or does not support. */
const NOT_SHOWN: ReadonlySet<number> = new Set([403, 404, 405]);

const ADMINISTRATOR = "ADMINISTRATOR";

const ROLES = z.object({ roles: z.object({ role: z.array(z.string()) }).partial().nullish() });
const GROUPS = z.array(ROLES.extend({
  members: z.object({ username: z.array(z.string()) }).partial().nullish(),
}));

/** @throws HttpError 403 for a caller who is no administrator; as {@link isAdministrator} */
export async function requireAuditReader(mapi: Mapi, caller: Caller): Promise<void> {
  if (await isAdministrator(mapi, caller)) return;
  throw forbidden("The audit trail is for accounts with the role ADMINISTRATOR or SECURITY");
}

/**
 * Has the store decide whether a caller administers its tenant, or at the system level all of them. Its own account has
 * the role ADMINISTRATOR or SECURITY; or it reads what only such accounts of a tenant may, which it may have from a
 * group: the rules of passwords and logins.
 *
 * @throws HttpError as {@link callMapi}
 */
export async function isAdministrator(mapi: Mapi, caller: Caller): Promise<boolean> {
  const { tenant } = caller;
  if ((await ownRoles(mapi, caller)).some((role) => READERS.has(role))) return true;
  if (tenant === null) return false;
  return await readIfShown(mapi, caller, mapiPath("/tenants/{tenant}/consoleSecurity", { tenant }), {}) !== null;
}

/**
 * Has the store decide whether a caller may see and cancel the tasks of its tenant: its own account has the role
 * ADMINISTRATOR, or a group of the tenant whose record names it as a member. At the system level, which has the tasks of
 * all tenants, as {@link isAdministrator}: not every store shows roles there.
 *
 * @throws HttpError as {@link callMapi}
 */
export async function isAdministratorOfTasks(mapi: Mapi, caller: Caller): Promise<boolean> {
  const { tenant, username } = caller;
  if (tenant === null) return await isAdministrator(mapi, caller);
  if ((await ownRoles(mapi, caller)).includes(ADMINISTRATOR)) return true;
  const groups = await readIfShown(mapi, caller, mapiPath("/tenants/{tenant}/groupAccounts", { tenant }), {
    verbose: true,
  });
  const name = username.toLowerCase();
  return (GROUPS.safeParse(groups).data ?? []).some(({ roles, members }) =>
    roles?.role?.includes(ADMINISTRATOR) && members?.username?.some((member) => member.toLowerCase() === name)
  );
}

/** The roles of a caller's own account; none where the store does not show them. */
async function ownRoles(mapi: Mapi, caller: Caller): Promise<readonly string[]> {
  const { tenant, username } = caller;
  const own = tenant === null
    ? mapiPath("/userAccounts/{username}", { username })
    : mapiPath("/tenants/{tenant}/userAccounts/{username}", { tenant, username });
  return ROLES.safeParse(await readIfShown(mapi, caller, own, { verbose: true })).data?.roles?.role ?? [];
}

/** Null where the store does not show it. */
async function readIfShown(mapi: Mapi, caller: Caller, path: MapiPath, query: StoreQuery): Promise<unknown> {
  try {
    return (await callMapi(mapi, caller, { method: "GET", path, query, resource: "the account" })).body;
  } catch (error) {
    if (error instanceof HttpError && NOT_SHOWN.has(error.status)) return null;
    throw error;
  }
}
