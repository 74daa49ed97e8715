import { CONVERTER, RESULTS_TENANT } from "@/embedded/store/accounts.ts";
import type { Input } from "@/embedded/store/changes.ts";
import { isLastAdministrator, withAdministrator } from "@/embedded/store/last_administrator.ts";
import { folded } from "@/embedded/store/names.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { mergeRecord, tenantOf } from "./records.ts";

/** How many former passwords of a user are stored: as many as the settings can require. */
const FORMER_PASSWORDS = 100;

/**
 * Changes members of a user's record, and the password where one is stated, which resets the count of wrong ones, as
 * `unlock` does.
 *
 * @throws {StoreError} NotFound, LastAdministrator, or AccessDenied for a recovery that is none
 */
export function modifyUser(
  index: Statements,
  { user, record, passwordMd5, unlock, isRecovery = false }: Input<"modifyUser">,
): null {
  const merge = () => mergeRecord(index, "users", user, record);
  withAdministrator(index, tenantOf(index, "users", user), isRecovery, merge);
  if (passwordMd5 !== null) {
    const row = index.row("SELECT password_md5, former_passwords FROM users WHERE id = ?", user);
    const stored = JSON.stringify([row?.[0], ...JSON.parse(String(row?.[1]))].slice(0, FORMER_PASSWORDS));
    index.run("UPDATE users SET password_md5 = ?, former_passwords = ? WHERE id = ?", passwordMd5, stored, user);
  }
  if (passwordMd5 !== null || unlock) resetFailures(index, { user });
  return null;
}

/**
 * Counts a wrong password; the one that reaches the limit locks the account, unless it is the one that campaigns write
 * with or the last administrator: anyone may send wrong passwords, and no other account could open either of them
 * again.
 */
export function countFailure(
  index: Statements,
  { user, limit, unlockAfterMs, atMs }: Input<"countFailure">,
): null {
  const row = index.row("SELECT failed_attempts, locked_ms, tenant FROM users WHERE id = ?", user);
  if (!row) return null;
  const isLocked = row[1] !== null;
  if (isLocked && (unlockAfterMs === null || Number(row[1]) + unlockAfterMs > atMs)) return null;
  const attempts = isLocked ? 1 : Number(row[0]) + 1;
  const openedMs = unlockAfterMs === null ? -1 : atMs - unlockAfterMs;
  const locks = limit > 0 && attempts >= limit && !isConverter(index, user) &&
    !isLastAdministrator(index, { id: user, tenant: Number(row[2]) }, openedMs);
  index.run("UPDATE users SET failed_attempts = ?, locked_ms = ? WHERE id = ?", attempts, locks ? atMs : null, user);
  return null;
}

function isConverter(index: Statements, user: number): boolean {
  const sql =
    "SELECT 1 FROM users JOIN tenants ON tenants.id = tenant WHERE users.id = ? AND users.folded = ? AND tenants.folded = ?";
  return index.row(sql, user, folded(CONVERTER), folded(RESULTS_TENANT)) !== null;
}

/** Resets the count of wrong passwords, after a right one. */
export function resetFailures(index: Statements, { user }: Input<"resetFailures">): null {
  index.run("UPDATE users SET failed_attempts = 0, locked_ms = NULL WHERE id = ?", user);
  return null;
}
