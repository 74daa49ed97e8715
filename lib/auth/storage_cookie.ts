import { createHmac, type KeyObject } from "node:crypto";
import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { derivedKeys } from "@/lib/std/sealed_text.ts";
import { resolveLogin } from "./admission.ts";
import {
  browserScheme,
  clearedCookie,
  openToken,
  type Scheme,
  sealToken,
  sessionCookie,
  sessionDigest,
  sessionValues,
} from "./session_token.ts";
import type { RevocableSession } from "./revoked_sessions.ts";

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

/** The account that a typed user name means; null where the tenant in it is not a tenant name. */
export function typedAccount(username: string): StorageAccount | null {
  try {
    const login = resolveLogin({ username });
    return { tenant: login.tenant, user: login.username };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return null;
  }
}

/** Equal for the same account, however its name was typed. */
function folded(account: StorageAccount): string {
  return accountName(account).normalize("NFC").toLowerCase();
}

/** Accounts that one browser may be logged in to at a time. */
const MAX_ACCOUNTS = 8;
/** The name of the first cookie; the others have their number in it. */
const STEM = "storage_session";

/** A sealed login: tenant, user, password, and the times of its end and its issue. */
const CONTENT = z.object({
  t: z.string().nullable(),
  u: z.string(),
  p: z.string(),
  e: z.number(),
  i: z.number(),
});

/** An account and its password: what the gateway needs to act for it. */
export interface StorageCredentials extends StorageAccount {
  readonly password: string;
}

/** A login to the store that a browser holds in one of its cookies. */
export interface StorageLogin extends StorageCredentials, RevocableSession {
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The cookie it is in, from 0 to below the number of accounts. */
  readonly slot: number;
  /** The digest of the cookie's value: the key of what is cached for the login. */
  readonly digest: string;
}

type Sent = Pick<Request, "url" | "headers">;

/** The keys of storage logins, derived from secrets; the first one seals. None while the secrets cannot be read. */
export function storageKeys(secrets: () => readonly KeyObject[]): () => readonly KeyObject[] {
  return derivedKeys(secrets, "storage logins");
}

/**
 * The storage logins of a request, the newest first. Of several cookies of one name the first that holds a login in force
 * counts: another host of the domain, or an earlier page, may have left others. Cookies that were sealed with none
 * of these keys, and expired ones, are left out.
 *
 * @param nowMs ms since 1970
 * @param isInForce whether a genuine login that has not expired still counts
 */
export function storageLogins(
  request: Sent,
  keys: readonly KeyObject[],
  nowMs: number,
  isInForce: (login: StorageLogin) => boolean,
): StorageLogin[] {
  const logins: StorageLogin[] = [];
  for (let slot = 0; slot < MAX_ACCOUNTS; slot++) {
    for (const value of sessionValues(request, stemOf(slot))) {
      const login = openLogin(value, slot, keys, nowMs);
      if (login === null || !isInForce(login)) continue;
      logins.push(login);
      break;
    }
  }
  return logins.sort((a, b) => b.issuedAt - a.issuedAt);
}

/**
 * The `Set-Cookie` value that adds a login to those of a browser. It replaces an older login of the same account, and
 * the oldest one where all cookies are taken. Null where name and password are too long for a cookie.
 *
 * @param logins those that the browser has
 */
export function storageCookie(
  scheme: Scheme,
  login: Pick<StorageLogin, "tenant" | "user" | "password" | "expiresAt" | "issuedAt">,
  logins: readonly StorageLogin[],
  key: KeyObject,
): string | null {
  const slot = freeSlot(login, logins);
  const { tenant: t, user: u, password: p, expiresAt: e, issuedAt: i } = login;
  const value = sealToken({ t, u, p, e, i }, key, STEM);
  return value && sessionCookie(scheme, stemOf(slot), value, e - i);
}

/** The `Set-Cookie` value that removes one login from a browser. */
export function clearedLogin(request: Sent, { slot }: Pick<StorageLogin, "slot">): string {
  return clearedCookie(browserScheme(request), stemOf(slot));
}

/** The `Set-Cookie` values that remove all storage logins that a request came with, genuine or not. */
export function clearedLogins(request: Sent): string[] {
  const slots = Array.from({ length: MAX_ACCOUNTS }, (_, slot) => slot);
  return slots.filter((slot) => sessionValues(request, stemOf(slot)).length > 0)
    .map((slot) => clearedLogin(request, { slot }));
}

/** `storage_session`, `storage2_session` …: names that the log redacts wherever they appear. */
function stemOf(slot: number): string {
  return slot === 0 ? STEM : STEM.replace("_", `${slot + 1}_`);
}

function freeSlot(account: StorageAccount, logins: readonly StorageLogin[]): number {
  const same = logins.find((login) => isSameAccount(login, account));
  if (same) return same.slot;
  const taken = new Set(logins.map(({ slot }) => slot));
  for (let slot = 0; slot < MAX_ACCOUNTS; slot++) if (!taken.has(slot)) return slot;
  return logins.reduce((oldest, login) => login.issuedAt < oldest.issuedAt ? login : oldest).slot;
}

function openLogin(value: string, slot: number, keys: readonly KeyObject[], nowMs: number): StorageLogin | null {
  const opened = openToken(value, keys, STEM, CONTENT);
  if (opened === null || opened.value.e * 1000 <= nowMs) return null;
  const { t: tenant, u: user, p: password, e: expiresAt, i: issuedAt } = opened.value;
  const digest = sessionDigest(value);
  return {
    ...{ tenant, user, password, expiresAt, issuedAt, slot, digest },
    // Computed only where something was revoked.
    get account() {
      const text = JSON.stringify([STEM, tenant, user, password]);
      return createHmac("sha256", opened.key).update(text).digest("base64url");
    },
    get owner() {
      return ownerOf({ tenant, user }, opened.key);
    },
  };
}

/** An account as its logins name it that were sealed with this key; reveals nothing about it. */
export function ownerOf(account: StorageAccount, key: KeyObject): string {
  return createHmac("sha256", key).update(JSON.stringify([STEM, folded(account)])).digest("base64url");
}

const SIDE_STEM = "login_sides";
/** How long a browser remembers it, seconds: longer than a session. */
const MAX_AGE_SECONDS = 24 * 3600;
const VALUE = /^(campaigns|storage)\.(tenant|[1-5]\d\d)\.(new|shown)$/;

/** The part of the site that the last login did not open. */
interface NotedArea {
  readonly side: "campaigns" | "storage";
  /** The status with which it refused the login; `tenant`: the tenant of the name is not known. */
  readonly reason: number | "tenant";
  /** Whether a page has said it. */
  readonly isShown: boolean;
}

/**
 * The `Set-Cookie` value that notes which side of the site a login did not open, so that the next page says it once and
 * the closed side says it until it is open. It holds no name and decides nothing.
 *
 * @param closed null removes the note
 */
export function unavailableAreaCookie(scheme: Scheme, closed: NotedArea | null): string {
  if (closed === null) return clearedCookie(scheme, SIDE_STEM);
  const { side, reason, isShown } = closed;
  return sessionCookie(scheme, SIDE_STEM, `${side}.${reason}.${isShown ? "shown" : "new"}`, MAX_AGE_SECONDS);
}

/** Lets a page that says which side is closed be the only one that says it, but for those of that side. */
export function rememberShown(
  headers: Headers,
  request: Pick<Request, "url" | "headers">,
  noted: NotedArea | null,
): void {
  if (noted === null || noted.isShown) return;
  headers.append("Set-Cookie", unavailableAreaCookie(browserScheme(request), { ...noted, isShown: true }));
}

/** The side that the last login of a browser did not open; null where it opened both, or none. */
export function notedUnavailableArea(request: Pick<Request, "url" | "headers">): NotedArea | null {
  for (const value of sessionValues(request, SIDE_STEM)) {
    const [, side, reason, state] = VALUE.exec(value) ?? [];
    if (side !== "campaigns" && side !== "storage") continue;
    return { side, reason: reason === "tenant" ? reason : Number(reason), isShown: state === "shown" };
  }
  return null;
}

const SESSIONS_STEM = "storage_note";
/** How long after the end of the last session the storage pages say that it has ended, seconds. */
const AFTER_END_SECONDS = 24 * 3600;
/** An instant that JavaScript's dates can hold, seconds since 1970. */
const SESSIONS = z.array(z.object({ account: z.string().max(600), endsAt: z.number().min(0).max(8.64e12) })).max(8);

/** A session that a browser has, or had, at the storage: the account's name and its end, seconds since 1970. */
type NotedSession = z.output<typeof SESSIONS>[number];

/**
 * The `Set-Cookie` value that notes the sessions of a browser, so that the storage pages can name one that has ended. It
 * is sealed: a page shows the names in it, which another host of the domain must not choose. What does not fit is left
 * out, the oldest first.
 *
 * @param logins the newest first; none removes the note
 * @param keys those of logins, of which the first one seals; none removes the note
 * @param nowMs ms since 1970
 */
export function sessionNoteCookie(
  scheme: Scheme,
  logins: readonly Pick<StorageLogin, "tenant" | "user" | "expiresAt">[],
  [key]: readonly KeyObject[],
  nowMs: number,
): string {
  if (!key) return clearedCookie(scheme, SESSIONS_STEM);
  const sessions = logins.map((login): NotedSession => ({ account: accountName(login), endsAt: login.expiresAt }));
  for (let count = sessions.length; count > 0; count--) {
    const value = sealToken(sessions.slice(0, count), key, SESSIONS_STEM);
    if (value === null) continue;
    const last = Math.max(...sessions.map(({ endsAt }) => endsAt));
    return sessionCookie(scheme, SESSIONS_STEM, value, Math.ceil(last - nowMs / 1000) + AFTER_END_SECONDS);
  }
  return clearedCookie(scheme, SESSIONS_STEM);
}

/**
 * The sessions of the note in a request, of several notes those of the first that was sealed with one of these keys;
 * none without one.
 */
export function notedSessions(
  request: Pick<Request, "url" | "headers">,
  keys: readonly KeyObject[],
): readonly NotedSession[] {
  for (const value of sessionValues(request, SESSIONS_STEM)) {
    const opened = openToken(value, keys, SESSIONS_STEM, SESSIONS);
    if (opened) return opened.value;
  }
  return [];
}
