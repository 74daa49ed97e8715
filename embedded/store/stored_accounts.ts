import { createHash } from "node:crypto";
import { folded, type NamePage, ofNamePage } from "./names.ts";
import type { Cell, Statements } from "./statements.ts";
import { StoreError } from "./store_error.ts";

/** The tenant number of the system level, which has users but no buckets. */
export const SYSTEM = 0;

export interface Tenant {
  id: number;
  name: string;
  record: Record<string, unknown>;
  createdMs: number;
}

export interface User {
  id: number;
  tenant: number;
  name: string;
  guid: string;
  /** The S3 secret key and the second half of the MAPI token: hexadecimal MD5 of the password. */
  passwordMd5: string;
  record: Record<string, unknown>;
  /** Wrong passwords since the last right one. */
  failedAttempts: number;
  /** When too many of them locked the account, ms since 1970; null while it is not locked. */
  lockedMs: number | null;
}

/** Number and bytes of the versions in buckets, and the bytes of parts that are not yet an object. */
export interface Holdings {
  objects: number;
  bytes: number;
  partBytes: number;
}

/** A group account of a tenant. Its members have its roles and its data access permissions. */
export interface Group {
  id: number;
  name: string;
  guid: string;
  record: Record<string, unknown>;
}

/** Reads tenants, user accounts and group accounts. Names are looked up case-insensitively. */
export class Accounts {
  constructor(private readonly index: Statements) {}

  /** All tenants in the order of their names. */
  tenants(): Tenant[] {
    return this.#tenants("ORDER BY folded");
  }

  tenant(name: string): Tenant | null {
    return this.#tenants("WHERE folded = ?", folded(name))[0] ?? null;
  }

  /** All users of a tenant in the order of their names. */
  users(tenant: number): User[] {
    return this.#users("WHERE tenant = ? ORDER BY folded", tenant);
  }

  /** A page of a tenant's users. */
  usersPage(tenant: number, page: NamePage): User[] {
    return this.#users(ofNamePage(page), tenant, page.prefix, page.count, page.offset);
  }

  user(tenant: number, name: string): User | null {
    return this.#users("WHERE tenant = ? AND folded = ?", tenant, folded(name))[0] ?? null;
  }

  userById(id: number): User | null {
    return this.#users("WHERE id = ?", id)[0] ?? null;
  }

  userByGuid(tenant: number, guid: string): User | null {
    return this.#users("WHERE guid = ? AND tenant = ?", guid, tenant)[0] ?? null;
  }

  /** The MD5s of a user's former passwords, the newest first. */
  formerPasswords(user: number): string[] {
    return JSON.parse(this.index.text("SELECT former_passwords FROM users WHERE id = ?", user) ?? "[]");
  }

  /** The usage of all buckets of a tenant. */
  holdings(tenant: number): Holdings {
    const sql = `SELECT coalesce(sum(stored_count), 0) AS objects, coalesce(sum(stored_bytes), 0) AS bytes,
      coalesce(sum(part_bytes), 0) AS partBytes FROM buckets WHERE tenant = ?`;
    return this.index.records<Holdings>(sql, tenant)[0];
  }

  /** All groups of a tenant in the order of their names. */
  groups(tenant: number): Group[] {
    return this.#groups("WHERE tenant = ? ORDER BY folded", tenant);
  }

  group(tenant: number, name: string): Group | null {
    return this.#groups("WHERE tenant = ? AND folded = ?", tenant, folded(name))[0] ?? null;
  }

  groupByGuid(tenant: number, guid: string): Group | null {
    return this.#groups("WHERE guid = ? AND tenant = ?", guid, tenant)[0] ?? null;
  }

  /** The groups that a user is in. */
  groupsOf(user: number): Group[] {
    return this.#groups("WHERE id IN (SELECT group_id FROM group_members WHERE user = ?)", user);
  }

  /** The numbers of the users that are in a group. */
  memberIds(group: number): Set<number> {
    const rows = this.index.rows("SELECT user FROM group_members WHERE group_id = ?", group);
    return new Set(rows.map(([id]) => Number(id)));
  }

  /** The names of a group's members in their order. */
  memberNames(group: number): string[] {
    const sql = "SELECT name FROM group_members JOIN users ON users.id = user WHERE group_id = ? ORDER BY folded";
    return this.index.rows(sql, group).map(([name]) => String(name));
  }

  /**
   * Whether a group gives its members access to data: it has data access permissions, or is named by an access list of
   * the tenant. Reads the lists of all objects, 0.13 s for a million.
   */
  givesData(tenant: number, { id, guid }: Group): boolean {
    if (this.index.row("SELECT 1 FROM group_grants WHERE group_id = ? LIMIT 1", id)) return true;
    if (this.index.row("SELECT 1 FROM buckets WHERE tenant = ? AND instr(acl, ?)", tenant, guid)) return true;
    return ["objects", "history", "uploads"].some((table) => {
      const named = `instr(${table}.acl, ?)`;
      const sql = `SELECT 1 FROM buckets JOIN ${table} ON bucket = buckets.id WHERE tenant = ? AND ${named} LIMIT 1`;
      return this.index.row(sql, tenant, guid) !== null;
    });
  }

  #tenants(which: string, ...parameters: Cell[]): Tenant[] {
    const sql = `SELECT id, name, record, created_ms AS createdMs FROM tenants ${which}`;
    return this.index.records<Stored<Tenant>>(sql, ...parameters).map(withRecord);
  }

  #users(which: string, ...parameters: Cell[]): User[] {
    const sql = `SELECT id, tenant, name, guid, password_md5 AS passwordMd5, record, failed_attempts AS failedAttempts,
      locked_ms AS lockedMs FROM users ${which}`;
    return this.index.records<Stored<User>>(sql, ...parameters).map(withRecord);
  }

  #groups(which: string, ...parameters: Cell[]): Group[] {
    const sql = `SELECT id, name, guid, record FROM groups ${which}`;
    return this.index.records<Stored<Group>>(sql, ...parameters).map(withRecord);
  }
}

/** An account as its row holds it, with its record as JSON. */
type Stored<T> = Omit<T, "record"> & { record: string };

function withRecord<T extends { record: string }>(row: T): Omit<T, "record"> & Pick<Group, "record"> {
  return { ...row, record: JSON.parse(row.record) };
}

/** Whether a user may log in with a password: the account is active, and passwords are how it logs in. */
export function isEnabled(user: User): boolean {
  return user.record.enabled !== false && user.record.localAuthentication !== false;
}

/** The roles of a user's or a group's record. */
export function rolesOf(user: { readonly record: Readonly<Record<string, unknown>> }): readonly string[] {
  const roles = user.record.roles;
  if (!roles || typeof roles !== "object" || !("role" in roles) || !Array.isArray(roles.role)) return [];
  return roles.role.filter((role) => typeof role === "string");
}

/** Whether the management API accepts only a change of the password from an account. */
export function mustChangePassword({ record }: User): boolean {
  return record.forcePasswordChange === true;
}

/**
 * Whether an account may create namespaces: the record says so, or the record says nothing and the account is an
 * administrator.
 */
export function mayManageNamespaces(account: { readonly record: Readonly<Record<string, unknown>> }): boolean {
  const said = account.record.allowNamespaceManagement;
  return typeof said === "boolean" ? said : rolesOf(account).includes("ADMINISTRATOR");
}

/** The tenant in which campaigns store their results. */
export const RESULTS_TENANT = "archive";

/** The account that campaigns write their results with, in that tenant. */
export const CONVERTER = "converter";

/** Hexadecimal MD5 of a password in UTF-8: half of the management API's token, and the S3 secret key. */
export function passwordMd5(password: string): string {
  return createHash("md5").update(password).digest("hex");
}

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
    const other = `SELECT 1 FROM users WHERE tenant = ? AND id != ? AND (locked_ms IS NULL OR locked_ms <= ?)
      AND ${ENABLED} AND ${HAS_ROLE} LIMIT 1`;
    return index.row(other, tenant, id, openedMs, ...named, ...named) === null;
  });
}

/** Whether a tenant has an enabled account with the role ADMINISTRATOR, its own or that of a group. */
export function hasAdministrator(index: Statements, tenant: number): boolean {
  const select = `SELECT 1 FROM users WHERE tenant = ? AND ${ENABLED} AND ${HAS_ROLE} LIMIT 1`;
  return index.row(select, tenant, ...Array<string>(4).fill("ADMINISTRATOR")) !== null;
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
