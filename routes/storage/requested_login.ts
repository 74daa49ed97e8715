import { isSameAccount, type StorageAccount, typedAccount } from "@/lib/storage/storage_account.ts";
import { ownerOf, type StorageLogin, storageLogins } from "@/lib/storage/storage_cookie.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { StorageDeps } from "./deps.ts";

type LoginDeps = Pick<StorageDeps, "keys" | "now" | "revoked">;

/** The storage logins of a request that have not ended, the newest first. */
export function loginsOf({ keys, now, revoked }: LoginDeps, request: Request): StorageLogin[] {
  return storageLogins(request, keys(), now(), (login) => !revoked.has(login));
}

/** Ends all logins of an account, of every browser. */
export function endLogins({ keys, now, revoked, sessionHours }: StorageDeps, account: StorageAccount): void {
  const owners = keys().map((key) => ownerOf(account, key));
  void revoked.endAccount(owners, now() / 1000 + sessionHours * 3600);
}

/** The login that an address names by `account`, else the newest; null where there is none. */
export function requestedLogin(
  deps: LoginDeps,
  request: Request,
  query: URLSearchParams,
): StorageLogin | null {
  return namedLogin(loginsOf(deps, request), query.get("account"));
}

/** The login of this name; the first one without a name, or with an empty one, as of a form that was sent empty. */
export function namedLogin(logins: readonly StorageLogin[], name: string | null): StorageLogin | null {
  if (!name) return logins[0] ?? null;
  try {
    const account = typedAccount(name);
    return logins.find((login) => isSameAccount(login, account)) ?? null;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return null;
  }
}
