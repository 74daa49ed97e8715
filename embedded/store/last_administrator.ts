import { StoreError } from "./store_error.ts";
import type { Statements } from "./statements.ts";

/** The roles that may do everything in a tenant, and unlock accounts. */
const REQUIRED_ROLES = [["ADMINISTRATOR"], ["ADMINISTRATOR", "SECURITY"]] as const;

/** Whether a record (JSON) says that its account may log in with a password. */
const ENABLED =
  "coalesce(json_extract(record, '$.enabled'), 1) AND coalesce(json_extract(record, '$.localAuthentication'), 1)";

/** Whether a user has one of the roles, its own or those of its groups. */
const HAS_ROLE = `(
  EXISTS (SELECT 1 FROM json_each(users.record, '$.roles.role') WHERE value IN (?, ?))
  OR EXISTS (
    SELECT 1 FROM group_members JOIN groups ON groups.id = group_id, json_each(groups.record, '$.roles.role')
    WHERE user = users.id AND value IN (?, ?)
  )
)`;

/**
 * Whether a tenant would have no account left that can administer it, or that can open locked accounts, without this
 * user: the user has the role, and every other account with the role is disabled or locked.
 *
 * @param openedMs locks of this moment or before, ms since 1970, have expired
 */
export function isLastAdministrator(
  index: Statements,
  { id, tenant }: { readonly id: number; readonly tenant: number },
  openedMs: number,
): boolean {
  return REQUIRED_ROLES.some((roles) => {
    const named = [roles[0], roles.at(-1) ?? roles[0]];
    const has = index.row(`SELECT 1 FROM users WHERE id = ? AND ${HAS_ROLE}`, id, ...named, ...named);
    if (!has) return false;
    const other = index.row(
      `SELECT 1 FROM users WHERE tenant = ? AND id != ? AND (locked_ms IS NULL OR locked_ms <= ?)
       AND ${ENABLED} AND ${HAS_ROLE} LIMIT 1`,
      tenant,
      id,
      openedMs,
      ...named,
      ...named,
    );
    return other === null;
  });
}

const ANY_ADMINISTRATOR = `SELECT 1 FROM users WHERE tenant = ? AND ${ENABLED} AND ${HAS_ROLE} LIMIT 1`;

/** Whether a tenant has an enabled account with the role ADMINISTRATOR, its own or that of a group. */
export function hasAdministrator(index: Statements, tenant: number): boolean {
  const roles = Array<string>(4).fill("ADMINISTRATOR");
  return index.row(ANY_ADMINISTRATOR, tenant, ...roles) !== null;
}

/**
 * Applies a change of accounts or groups that must leave a tenant its last enabled administrator. A recovery must give
 * one to a tenant that has none.
 *
 * @throws {StoreError} LastAdministrator; AccessDenied for a recovery that is none. The caller rolls the change back.
 */
export function withAdministrator<T>(index: Statements, tenant: number, isRecovery: boolean, change: () => T): T {
  const had = hasAdministrator(index, tenant);
  const result = change();
  const has = hasAdministrator(index, tenant);
  if (isRecovery && (had || !has)) throw new StoreError("AccessDenied");
  if (had && !has) throw new StoreError("LastAdministrator");
  return result;
}
