import { resolveLogin } from "@/lib/auth/login.ts";

/** An account of the store. */
export interface StorageAccount {
  /** Null: the system level, or a store without tenants. */
  readonly tenant: string | null;
  readonly user: string;
}

/** The name under which addresses and pages know an account: `tenant/user`, or `user` without a tenant. */
export function accountName({ tenant, user }: StorageAccount): string {
  return tenant === null ? user : `${tenant}/${user}`;
}

/** Where the management API has the data access permissions of an account, below `/api/v1`. */
export function dataAccessPath(tenant: string, user: string): string {
  return `/mapi/tenants/${tenant}/userAccounts/${encodeURIComponent(user)}/dataAccessPermissions`;
}

/** Whether two accounts are the same: tenants and users compare without case, as in the store. */
export function isSameAccount(a: StorageAccount, b: StorageAccount): boolean {
  return folded(a) === folded(b);
}

/**
 * The account that a typed user name means.
 *
 * @throws HttpError 422 where the tenant in it is not a tenant name
 */
export function typedAccount(username: string): StorageAccount {
  const login = resolveLogin({ username });
  return { tenant: login.tenant, user: login.username };
}

/** Equal for the same account, however its name was typed. */
export function folded(account: StorageAccount): string {
  return accountName(account).normalize("NFC").toLowerCase();
}
