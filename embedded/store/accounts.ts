import { hasAdministrator } from "./last_administrator.ts";
import { folded, type NamePage, ofNamePage } from "./names.ts";
import { type Cell, numberOrNull, type Statements } from "./statements.ts";

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

/** What buckets hold: versions and their bytes, and the bytes of parts that are not yet an object. */
export interface Holdings {
  objects: number;
  bytes: number;
  partBytes: number;
}

/** Reads tenants and user accounts. Names are looked up case-insensitively. */
export class Accounts {
  readonly #index: Statements;

  constructor(index: Statements) {
    this.#index = index;
  }

  /** All tenants in the order of their names. */
  tenants(): Tenant[] {
    return this.#index.rows(`SELECT ${TENANT} FROM tenants ORDER BY folded`).map(tenantOf);
  }

  tenant(name: string): Tenant | null {
    const row = this.#index.row(`SELECT ${TENANT} FROM tenants WHERE folded = ?`, folded(name));
    return row && tenantOf(row);
  }

  /** The CORS rules (XML) for the buckets of a tenant without rules of their own; null where there are none. */
  cors(tenant: number): string | null {
    const row = this.#index.row("SELECT cors FROM tenants WHERE id = ?", tenant);
    return row && row[0] !== null ? String(row[0]) : null;
  }

  /** All users of a tenant in the order of their names. */
  users(tenant: number): User[] {
    return this.#index.rows(`SELECT ${USER} FROM users WHERE tenant = ? ORDER BY folded`, tenant).map(userOf);
  }

  /** A page of a tenant's users. */
  usersPage(tenant: number, page: NamePage): User[] {
    const { prefix, offset, count } = page;
    return this.#index.rows(`SELECT ${USER} FROM users ${ofNamePage(page)}`, tenant, prefix, count, offset).map(userOf);
  }

  user(tenant: number, name: string): User | null {
    const row = this.#index.row(`SELECT ${USER} FROM users WHERE tenant = ? AND folded = ?`, tenant, folded(name));
    return row && userOf(row);
  }

  userById(id: number): User | null {
    const row = this.#index.row(`SELECT ${USER} FROM users WHERE id = ?`, id);
    return row && userOf(row);
  }

  /** Whether a tenant has an enabled account with the role ADMINISTRATOR, its own or that of a group. */
  hasAdministrator(tenant: number): boolean {
    return hasAdministrator(this.#index, tenant);
  }

  /** The MD5s of a user's former passwords, the newest first. */
  formerPasswords(user: number): string[] {
    const row = this.#index.row("SELECT former_passwords FROM users WHERE id = ?", user);
    return row ? JSON.parse(String(row[0])) : [];
  }

  /** What a tenant's buckets hold. */
  holdings(tenant: number): Holdings {
    const row = this.#index.row(
      "SELECT coalesce(sum(stored_count), 0), coalesce(sum(stored_bytes), 0), coalesce(sum(part_bytes), 0) FROM buckets WHERE tenant = ?",
      tenant,
    );
    const [objects, bytes, partBytes] = row ?? [0, 0, 0];
    return { objects: Number(objects), bytes: Number(bytes), partBytes: Number(partBytes) };
  }

  userByGuid(tenant: number, guid: string): User | null {
    const row = this.#index.row(`SELECT ${USER} FROM users WHERE guid = ? AND tenant = ?`, guid, tenant);
    return row && userOf(row);
  }
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

const TENANT = "id, name, record, created_ms";
const USER = "id, tenant, name, guid, password_md5, record, failed_attempts, locked_ms";

function tenantOf([id, name, record, createdMs]: Cell[]): Tenant {
  return { id: Number(id), name: String(name), record: JSON.parse(String(record)), createdMs: Number(createdMs) };
}

function userOf([id, tenant, name, guid, passwordMd5, record, failedAttempts, lockedMs]: Cell[]): User {
  return {
    id: Number(id),
    tenant: Number(tenant),
    name: String(name),
    guid: String(guid),
    passwordMd5: String(passwordMd5),
    record: JSON.parse(String(record)),
    failedAttempts: Number(failedAttempts),
    lockedMs: numberOrNull(lockedMs),
  };
}

/** The tenant in which campaigns store their results. */
export const RESULTS_TENANT = "archive";

/** The account that campaigns write their results with, in that tenant. */
export const CONVERTER = "converter";
