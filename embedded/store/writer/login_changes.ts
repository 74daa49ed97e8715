import { CONVERTER, RESULTS_TENANT } from "@/embedded/store/accounts.ts";
import type { Changes } from "@/embedded/store/changes.ts";
import { isLastAdministrator } from "@/embedded/store/last_administrator.ts";
import { folded } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/** How many former passwords of a user are stored: as many as the settings can require. */
const FORMER_PASSWORDS = 100;

/**
 * Changes members of a user's record, and the password where one is given, which resets the count of wrong ones, as
 * `unlock` does.
 *
 * @throws {StoreError} NotFound
 */
export function modifyUser(
  index: Statements,
  { user, record, passwordMd5, unlock }: Changes["modifyUser"]["given"],
): null {
  const row = index.row("SELECT record, password_md5, former_passwords FROM users WHERE id = ?", user);
  if (!row) throw new StoreError("NotFound");
  const [present, presentMd5, former] = row.map(String);
  // Merged here, so that two changes at once do not undo each other.
  const merged = JSON.stringify({ ...JSON.parse(present), ...record });
  index.run("UPDATE users SET record = ? WHERE id = ?", merged, user);
  if (passwordMd5 !== null) {
    const stored = JSON.stringify([presentMd5, ...JSON.parse(former)].slice(0, FORMER_PASSWORDS));
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
  { user, limit, unlockAfterMs, atMs }: Changes["countFailure"]["given"],
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
export function resetFailures(index: Statements, { user }: Changes["resetFailures"]["given"]): null {
  index.run("UPDATE users SET failed_attempts = 0, locked_ms = NULL WHERE id = ?", user);
  return null;
}
