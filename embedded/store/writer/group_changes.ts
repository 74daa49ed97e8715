import type { Input, Result } from "@/embedded/store/changes.ts";
import { withAdministrator } from "@/embedded/store/last_administrator.ts";
import { folded } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { mergeRecord, requireFreeName, tenantOf } from "./records.ts";

/**
 * Creates a group account.
 *
 * @throws {StoreError} NameTaken, or NotFound when the tenant or a member is gone
 */
export function createGroup(
  index: Statements,
  { tenant, name, guid, record, members }: Input<"createGroup">,
): Result<"createGroup"> {
  if (!index.row("SELECT 1 FROM tenants WHERE id = ?", tenant)) throw new StoreError("NotFound");
  requireFreeName(index, "groups", tenant, name);
  const { id } = index.insert("groups", { tenant, name, folded: folded(name), guid, record });
  setMembers(index, id, members);
  return { id };
}

/**
 * Changes the named members of a group's record, and its members where they are stated.
 *
 * @throws {StoreError} NotFound when the group or a member is gone, or LastAdministrator
 */
export function modifyGroup(index: Statements, { group, record, members }: Input<"modifyGroup">): null {
  return withAdministrator(index, tenantOf(index, "groups", group), false, () => {
    mergeRecord(index, "groups", group, record);
    if (members) setMembers(index, group, members);
    return null;
  });
}

/**
 * Removes a group with its grants and memberships.
 *
 * @throws {StoreError} NotFound or LastAdministrator
 */
export function deleteGroup(index: Statements, { group }: Input<"deleteGroup">): null {
  const tenant = tenantOf(index, "groups", group);
  withAdministrator(index, tenant, false, () => index.run("DELETE FROM groups WHERE id = ?", group));
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
export function setGrants(index: Statements, { to, grants }: Input<"setGrants">): null {
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
  return null;
}

function setMembers(index: Statements, group: number, members: readonly number[]): void {
  index.run("DELETE FROM group_members WHERE group_id = ?", group);
  const ofTenant = "SELECT 1 FROM users JOIN groups USING (tenant) WHERE users.id = ? AND groups.id = ?";
  for (const user of members) {
    if (!index.row(ofTenant, user, group)) throw new StoreError("NotFound");
    index.run("INSERT OR IGNORE INTO group_members VALUES (?, ?)", user, group);
  }
}
