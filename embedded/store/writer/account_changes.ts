import type { NewGroup, NewUser } from "@/embedded/store/changes.ts";
import { folded } from "@/embedded/store/names.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import {
  CONVERTER,
  isLastAdministrator,
  RESULTS_TENANT,
  SYSTEM,
  withAdministrator,
} from "@/embedded/store/stored_accounts.ts";

/** How many former passwords of a user are stored: as many as the settings can require. */
const FORMER_PASSWORDS = 100;

/** Members of a record that a change states; the others stay. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Creates a tenant with its first user and its first group.
 *
 * @throws {StoreError} NameTaken
 */
function createTenant(
  index: Statements,
  { name, record, firstUser, firstGroup, atMs }: {
    name: string;
    /** JSON. */
    record: string;
    firstUser: NewUser | null;
    firstGroup?: NewGroup | null;
    atMs: number;
  },
): { id: number } {
  if (index.row("SELECT 1 FROM tenants WHERE folded = ?", folded(name))) throw new StoreError("NameTaken");
  const { id } = index.insert("tenants", { name, folded: folded(name), record, created_ms: atMs });
  if (firstUser) createUser(index, { tenant: id, ...firstUser });
  if (firstGroup) createGroup(index, { tenant: id, ...firstGroup, members: [] });
  return { id };
}

/** @throws {StoreError} NotFound */
function modifyTenant(index: Statements, { tenant, record }: { tenant: number; record: Members }): void {
  mergeRecord(index, "tenants", tenant, record);
}

/**
 * Removes a tenant with its users and groups.
 *
 * @throws {StoreError} NotFound, or BucketNotEmpty while it has buckets
 */
function deleteTenant(index: Statements, { tenant }: { tenant: number }): void {
  if (index.row("SELECT 1 FROM buckets WHERE tenant = ? LIMIT 1", tenant)) throw new StoreError("BucketNotEmpty");
  if (index.run("DELETE FROM tenants WHERE id = ?", tenant).changes === 0) throw new StoreError("NotFound");
  index.run("DELETE FROM group_members WHERE group_id IN (SELECT id FROM groups WHERE tenant = ?)", tenant);
  for (const table of ["groups", "users", "documents", "usage"]) {
    index.run(`DELETE FROM ${table} WHERE tenant = ?`, tenant);
  }
}

/**
 * Creates a user account. `isRecovery`: it must give an enabled administrator to a tenant that has none.
 *
 * @throws {StoreError} NameTaken, NotFound when the tenant is gone, or AccessDenied for a recovery that is none
 */
function createUser(
  index: Statements,
  { passwordMd5, isRecovery = false, ...account }: NewUser & { tenant: number; isRecovery?: boolean },
): { id: number } {
  const insert = () => insertAccount(index, "users", account, { password_md5: passwordMd5 });
  return isRecovery ? withAdministrator(index, account.tenant, true, insert) : insert();
}

/**
 * Changes members of a user's record, and the password where one is stated, which resets the count of wrong ones, as
 * `unlock` does.
 *
 * @throws {StoreError} NotFound, LastAdministrator, or AccessDenied for a recovery that is none
 */
function modifyUser(
  index: Statements,
  { user, record, passwordMd5, unlock, isRecovery = false }: {
    user: number;
    record: Members;
    passwordMd5: string | null;
    unlock: boolean;
    isRecovery?: boolean;
  },
): void {
  const merge = () => mergeRecord(index, "users", user, record);
  withAdministrator(index, tenantOf(index, "users", user), isRecovery, merge);
  if (passwordMd5 !== null) {
    const row = index.row("SELECT password_md5, former_passwords FROM users WHERE id = ?", user);
    const stored = JSON.stringify([row?.[0], ...JSON.parse(String(row?.[1]))].slice(0, FORMER_PASSWORDS));
    index.run("UPDATE users SET password_md5 = ?, former_passwords = ? WHERE id = ?", passwordMd5, stored, user);
  }
  if (passwordMd5 !== null || unlock) resetFailures(index, { user });
}

/**
 * Removes a user account and its grants; buckets it owns stay, without an owner.
 *
 * @throws {StoreError} NotFound or LastAdministrator
 */
function deleteUser(index: Statements, { user }: { user: number }): void {
  const tenant = tenantOf(index, "users", user);
  withAdministrator(index, tenant, false, () => index.run("DELETE FROM users WHERE id = ?", user));
  index.run("DELETE FROM grants WHERE user = ?", user);
  index.run("DELETE FROM group_members WHERE user = ?", user);
  index.run("UPDATE buckets SET owner = NULL WHERE owner = ?", user);
}

/**
 * Counts a wrong password; the one that reaches the limit (0: none) locks the account, unless it is the one that
 * campaigns write with or the last administrator: anyone may send wrong passwords, and no other account could open
 * either of them again. Without `unlockAfterMs` a locked account stays so.
 */
function countFailure(
  index: Statements,
  { user, limit, unlockAfterMs, atMs }: { user: number; limit: number; unlockAfterMs: number | null; atMs: number },
): void {
  const row = index.row("SELECT failed_attempts, locked_ms, tenant FROM users WHERE id = ?", user);
  if (!row) return;
  const isLocked = row[1] !== null;
  if (isLocked && (unlockAfterMs === null || Number(row[1]) + unlockAfterMs > atMs)) return;
  const attempts = isLocked ? 1 : Number(row[0]) + 1;
  const openedMs = unlockAfterMs === null ? -1 : atMs - unlockAfterMs;
  const locks = limit > 0 && attempts >= limit && !isConverter(index, user) &&
    !isLastAdministrator(index, { id: user, tenant: Number(row[2]) }, openedMs);
  index.run("UPDATE users SET failed_attempts = ?, locked_ms = ? WHERE id = ?", attempts, locks ? atMs : null, user);
}

function isConverter(index: Statements, user: number): boolean {
  const sql =
    "SELECT 1 FROM users JOIN tenants ON tenants.id = tenant WHERE users.id = ? AND users.folded = ? AND tenants.folded = ?";
  return index.row(sql, user, folded(CONVERTER), folded(RESULTS_TENANT)) !== null;
}

/** Resets the count of wrong passwords, after a right one. */
function resetFailures(index: Statements, { user }: { user: number }): void {
  index.run("UPDATE users SET failed_attempts = 0, locked_ms = NULL WHERE id = ?", user);
}

/**
 * Creates a group account; its members are numbers of users.
 *
 * @throws {StoreError} NameTaken, or NotFound when the tenant or a member is gone
 */
function createGroup(
  index: Statements,
  { members, ...account }: NewGroup & { tenant: number; members: readonly number[] },
): { id: number } {
  const { id } = insertAccount(index, "groups", account);
  setMembers(index, id, members);
  return { id };
}

/**
 * Changes the named members of a group's record, and its members unless they are null.
 *
 * @throws {StoreError} NotFound when the group or a member is gone, or LastAdministrator
 */
function modifyGroup(
  index: Statements,
  { group, record, members }: { group: number; record: Members; members: readonly number[] | null },
): void {
  withAdministrator(index, tenantOf(index, "groups", group), false, () => {
    mergeRecord(index, "groups", group, record);
    if (members) setMembers(index, group, members);
  });
}

/**
 * Removes a group with its grants and memberships.
 *
 * @throws {StoreError} NotFound or LastAdministrator
 */
function deleteGroup(index: Statements, { group }: { group: number }): void {
  const tenant = tenantOf(index, "groups", group);
  withAdministrator(index, tenant, false, () => index.run("DELETE FROM groups WHERE id = ?", group));
  index.run("DELETE FROM group_members WHERE group_id = ?", group);
  index.run("DELETE FROM group_grants WHERE group_id = ?", group);
}

/**
 * Sets what a user or a group may do in the named buckets, as masks, and leaves its others alone; no permission at all
 * removes an entry.
 *
 * @throws {StoreError} NotFound or NoSuchBucket when one of them is gone
 */
export function setGrants(
  index: Statements,
  { to, grants }: {
    to: { user: number } | { group: number };
    grants: readonly { bucket: number; permissions: number }[];
  },
): void {
  const [id, accounts, table, column] = "user" in to
    ? [to.user, "users", "grants", "user"] as const
    : [to.group, "groups", "group_grants", "group_id"] as const;
  const tenant = tenantOf(index, accounts, id);
  for (const { bucket, permissions } of grants) {
    if (!index.row("SELECT 1 FROM buckets WHERE id = ? AND tenant = ?", bucket, tenant)) {
      throw new StoreError("NoSuchBucket");
    }
    if (permissions === 0) index.run(`DELETE FROM ${table} WHERE ${column} = ? AND bucket = ?`, id, bucket);
    else index.run(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?)`, id, bucket, permissions);
  }
}

function setMembers(index: Statements, group: number, members: readonly number[]): void {
  index.run("DELETE FROM group_members WHERE group_id = ?", group);
  const ofTenant = "SELECT 1 FROM users JOIN groups USING (tenant) WHERE users.id = ? AND groups.id = ?";
  for (const user of members) {
    if (!index.row(ofTenant, user, group)) throw new StoreError("NotFound");
    index.run("INSERT OR IGNORE INTO group_members VALUES (?, ?)", user, group);
  }
}

function insertAccount(
  index: Statements,
  table: "users" | "groups",
  { tenant, name, guid, record }: NewGroup & { tenant: number },
  more: { password_md5?: string } = {},
): { id: number } {
  requireTenant(index, tenant);
  requireFreeName(index, table, { tenant, name });
  const { id } = index.insert(table, { tenant, name, folded: folded(name), guid, record, ...more });
  return { id };
}

/** A tenant may have been deleted since the caller looked it up; the system level has users without a tenant. */
export function requireTenant(index: Statements, tenant: number): void {
  if (tenant !== SYSTEM && !index.row("SELECT 1 FROM tenants WHERE id = ?", tenant)) throw new StoreError("NotFound");
}

/**
 * Merges members into the record of a row. Merged here, so that two changes at once do not undo each other.
 *
 * @throws {StoreError} NotFound
 */
export function mergeRecord(
  index: Statements,
  table: "tenants" | "users" | "groups" | "buckets",
  id: number,
  members: Members,
): void {
  const record = index.text(`SELECT record FROM ${table} WHERE id = ?`, id);
  if (record === null) throw new StoreError("NotFound");
  const merged = JSON.stringify({ ...JSON.parse(record), ...members });
  index.run(`UPDATE ${table} SET record = ? WHERE id = ?`, merged, id);
}

/** @throws {StoreError} NotFound */
function tenantOf(index: Statements, table: "users" | "groups", id: number): number {
  const row = index.row(`SELECT tenant FROM ${table} WHERE id = ?`, id);
  if (!row) throw new StoreError("NotFound");
  return Number(row[0]);
}

/** @throws {StoreError} NameTaken where another row of the tenant than `except` has the name, in whatever case */
export function requireFreeName(
  index: Statements,
  table: "users" | "groups" | "buckets",
  { tenant, name, except = 0 }: { readonly tenant: number; readonly name: string; readonly except?: number },
): void {
  const select = `SELECT 1 FROM ${table} WHERE tenant = ? AND folded = ? AND id != ?`;
  if (index.row(select, tenant, folded(name), except)) throw new StoreError("NameTaken");
}

/** The changes of tenants, users and groups. */
export const tenantChanges = { createTenant, modifyTenant, deleteTenant };
export const userChanges = { createUser, modifyUser, deleteUser, countFailure, resetFailures };
export const groupChanges = { createGroup, modifyGroup, deleteGroup, setGrants };
