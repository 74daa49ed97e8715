import { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { browserScheme, type Scheme } from "./browser_origin.ts";
import { clearedCookie, MAX_COOKIE_CHARACTERS, sessionCookie, sessionValues } from "./session_token.ts";
import { openWithOne, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { accountName, type StorageLogin } from "./storage_cookie.ts";

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
    const value = sealText(JSON.stringify(sessions.slice(0, count)), key, SESSIONS_STEM).toString("base64url");
    if (value.length > MAX_COOKIE_CHARACTERS) continue;
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
    const { text } = openWithOne(Buffer.from(value, "base64url"), keys, SESSIONS_STEM) ?? {};
    const { data } = SESSIONS.safeParse(text === undefined ? null : parsedJson(text));
    if (data) return data;
  }
  return [];
}
