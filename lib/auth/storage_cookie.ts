import { HttpError } from "@/lib/http/errors.ts";
import { Buffer } from "node:buffer";
import { createHash, createHmac, type KeyObject } from "node:crypto";
import { z } from "zod";
import { resolveLogin } from "./login.ts";
import { browserScheme, type Scheme } from "./browser_origin.ts";
import type { RevocableSession } from "./revoked_sessions.ts";
import { clearedCookie, MAX_COOKIE_CHARACTERS, sessionCookie, sessionValues } from "./session_token.ts";
import { derivedKey, openWithOne, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

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

/**
 * The keys of storage logins, of which the first one seals. They are derived from secrets that may be replaced while the
 * process runs; none while those cannot be read.
 */
export function storageKeys(secrets: () => readonly KeyObject[]): () => readonly KeyObject[] {
  let from: readonly KeyObject[] = [];
  let keys: readonly KeyObject[] = [];
  return () => {
    const current = secrets();
    if (current === from) return keys;
    from = current;
    keys = current.map((secret) => derivedKey(secret.export(), "storage logins"));
    return keys;
  };
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
  const value = sealText(JSON.stringify({ t, u, p, e, i }), key, STEM).toString("base64url");
  if (value.length > MAX_COOKIE_CHARACTERS) return null;
  return sessionCookie(scheme, stemOf(slot), value, e - i);
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
  const sealed = Buffer.from(value, "base64url");
  // Decoding skips invalid characters, but a login has one spelling.
  if (sealed.toString("base64url") !== value) return null;
  const opened = openWithOne(sealed, keys, STEM);
  if (opened === null) return null;
  const { data } = CONTENT.safeParse(parsedJson(opened.text));
  if (!data || data.e * 1000 <= nowMs) return null;
  const { t: tenant, u: user, p: password, e: expiresAt, i: issuedAt } = data;
  const digest = createHash("sha256").update(value).digest("base64url");
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
