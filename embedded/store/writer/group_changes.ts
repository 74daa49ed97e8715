import type { Changes } from "@/embedded/store/changes.ts";
import { folded } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/**
 * Creates a group account.
 *
 * @throws {StoreError} NameTaken, or NotFound when the tenant or a member is gone
 */
export function createGroup(
  index: Statements,
  { tenant, name, guid, record, members }: Changes["createGroup"]["given"],
): Changes["createGroup"]["result"] {
  if (!index.row("SELECT 1 FROM tenants WHERE id = ?", tenant)) throw new StoreError("NotFound");
  if (index.row("SELECT 1 FROM groups WHERE tenant = ? AND folded = ?", tenant, folded(name))) {
    throw new StoreError("NameTaken");
  }
  const { id } = index.run(
    "INSERT INTO groups (tenant, name, folded, guid, record) VALUES (?, ?, ?, ?, ?)",
    tenant,
    name,
    folded(name),
    guid,
    record,
  );
  setMembers(index, tenant, id, members);
  return { id };
}

/**
 * Changes the named members of a group's record, and its members where they are given.
 *
 * @throws {StoreError} NotFound when the group or a member is gone
 */
export function modifyGroup(index: Statements, { group, record, members }: Changes["modifyGroup"]["given"]): null {
  const row = index.row("SELECT tenant, record FROM groups WHERE id = ?", group);
  if (!row) throw new StoreError("NotFound");
  // Merged here, so that two changes at once do not undo each other.
  const merged = JSON.stringify({ ...JSON.parse(String(row[1])), ...record });
  index.run("UPDATE groups SET record = ? WHERE id = ?", merged, group);
  if (members) setMembers(index, Number(row[0]), group, members);
  return null;
}

/**
 * Removes a group with its grants and memberships.
 *
 * @throws {StoreError} NotFound
 */
export function deleteGroup(index: Statements, { group }: Changes["deleteGroup"]["given"]): null {
  if (index.run("DELETE FROM groups WHERE id = ?", group).changes === 0) throw new StoreError("NotFound");
  index.run("DELETE FROM group_members WHERE group_id = ?", group);
  index.run("DELETE FROM group_grants WHERE group_id = ?", group);
  return null;
}

/**
 * Sets what a user or a group may do in the named buckets, and leaves its others alone; no permission at all removes an
 * entry.
 *
 * @throws {StoreError} NotFound or NoSuchBucket when one of them is gone
 */
export function setGrants(index: Statements, { to, grants }: Changes["setGrants"]["given"]): null {
  const [id, accounts, table, column] = "user" in to
    ? [to.user, "users", "grants", "user"] as const
    : [to.group, "groups", "group_grants", "group_id"] as const;
  const tenant = index.row(`SELECT tenant FROM ${accounts} WHERE id = ?`, id);
  if (!tenant) throw new StoreError("NotFound");
  for (const { bucket, permissions } of grants) {
    if (!index.row("SELECT 1 FROM buckets WHERE id = ? AND tenant = ?", bucket, tenant[0])) {
      throw new StoreError("NoSuchBucket");
    }
    if (permissions === 0) index.run(`DELETE FROM ${table} WHERE ${column} = ? AND bucket = ?`, id, bucket);
    else index.run(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?)`, id, bucket, permissions);
  }
  return null;
}

function setMembers(index: Statements, tenant: number, group: number, members: readonly number[]): void {
  index.run("DELETE FROM group_members WHERE group_id = ?", group);
  for (const user of members) {
    if (!index.row("SELECT 1 FROM users WHERE id = ? AND tenant = ?", user, tenant)) throw new StoreError("NotFound");
    index.run("INSERT OR IGNORE INTO group_members VALUES (?, ?)", user, group);
  }
}
