import type { KeyObject } from "node:crypto";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import type { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { SessionKeys } from "@/lib/auth/session_token.ts";
import type { GatewayService } from "@/lib/auth/gateway_service.ts";
import type { LoginFacts } from "@/lib/auth/login_facts.ts";
import { notedSessions } from "@/lib/auth/storage_cookie.ts";
import {
  accountName,
  isSameAccount,
  ownerOf,
  type StorageAccount,
  type StorageLogin,
  storageLogins,
  typedAccount,
} from "@/lib/auth/storage_cookie.ts";
import type { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import type { ResultsLogin } from "@/lib/results/form_login.ts";

/** The settings of the storage pages. */
export interface StorageSettings {
  /** The gateway role of another process; null: that of this one, without which there are no storage pages. */
  readonly gateway: GatewayService | null;
  /** The secrets from which the keys of storage logins are derived. */
  readonly secrets: SessionKeys;
  /** Logins that ended before their time. */
  readonly revoked: RevokedSessions;
  readonly sessionHours: number;
  /** The tenant whose accounts open the campaigns too; null where it is not known or there are no tenants. */
  readonly campaignTenant: string | null;
}

/** The dependencies of the storage pages. */
export interface StorageDeps extends Pick<StorageSettings, "revoked" | "sessionHours" | "campaignTenant"> {
  readonly gateway: StorageGateway;
  readonly facts: LoginFacts;
  /** Records logins and logouts; null or absent: they are not recorded. */
  readonly logins?: LoginRecorder | null;
  /** The keys of logins, of which the first one seals; none while they cannot be read. */
  readonly keys: () => readonly KeyObject[];
  /** The login of the campaigns, which the same form opens; null in a site without a results service. */
  readonly results: ResultsLogin | null;
  /** ms since 1970 */
  readonly now: () => number;
}

type LoginDeps = Pick<StorageDeps, "keys" | "now" | "revoked">;

/** The storage logins of a request that have not ended, the newest first. */
export function loginsOf({ keys, now, revoked }: LoginDeps, request: Request): StorageLogin[] {
  return storageLogins(request, keys(), now(), (login) => !revoked.has(login));
}

/** The newest login of a request's browser, by its name; null without one. */
export function newestAccount(deps: LoginDeps | null, request: Request): string | null {
  const login = deps && loginsOf(deps, request).at(0);
  return login ? accountName(login) : null;
}

/** The sessions that this browser no longer has at the storage. @param logins those that it has */
export function endedSessions({ keys }: LoginDeps, request: Request, logins: readonly StorageLogin[]) {
  const names = new Set(logins.map((login) => accountName(login).toLowerCase()));
  return notedSessions(request, keys()).filter(({ account }) => !names.has(account.toLowerCase()));
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
  const account = typedAccount(name);
  return account && (logins.find((login) => isSameAccount(login, account)) ?? null);
}
