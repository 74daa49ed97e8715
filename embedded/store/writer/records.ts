/** What the tables with names and records share. */
import { folded } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";

/**
 * Merges members into the record of a row. Merged here, so that two changes at once do not undo each other.
 *
 * @throws {StoreError} NotFound
 */
export function mergeRecord(
  index: Statements,
  table: "tenants" | "users" | "groups" | "buckets",
  id: number,
  members: Readonly<Record<string, unknown>>,
): void {
  const row = index.row(`SELECT record FROM ${table} WHERE id = ?`, id);
  if (!row) throw new StoreError("NotFound");
  const merged = JSON.stringify({ ...JSON.parse(String(row[0])), ...members });
  index.run(`UPDATE ${table} SET record = ? WHERE id = ?`, merged, id);
}

/**
 * The tenant of an account.
 *
 * @throws {StoreError} NotFound
 */
export function tenantOf(index: Statements, table: "users" | "groups", id: number): number {
  const row = index.row(`SELECT tenant FROM ${table} WHERE id = ?`, id);
  if (!row) throw new StoreError("NotFound");
  return Number(row[0]);
}

/** @throws {StoreError} NameTaken where another row of the tenant than `except` has the name, in whatever case */
export function requireFreeName(
  index: Statements,
  table: "users" | "groups" | "buckets",
  tenant: number,
  name: string,
  except = 0,
): void {
  const select = `SELECT 1 FROM ${table} WHERE tenant = ? AND folded = ? AND id != ?`;
  if (index.row(select, tenant, folded(name), except)) throw new StoreError("NameTaken");
}
