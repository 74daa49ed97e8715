import { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import type { Scheme } from "@/lib/results/browser_origin.ts";
import { clearedCookie, MAX_COOKIE_CHARACTERS, sessionCookie, sessionValues } from "@/lib/results/session_cookie.ts";
import { openWithOne, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { accountName } from "./storage_account.ts";
import type { StorageLogin } from "./storage_cookie.ts";

const STEM = "storage_note";
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
  if (!key) return clearedCookie(scheme, STEM);
  const sessions = logins.map((login): NotedSession => ({ account: accountName(login), endsAt: login.expiresAt }));
  for (let count = sessions.length; count > 0; count--) {
    const value = sealText(JSON.stringify(sessions.slice(0, count)), key, STEM).toString("base64url");
    if (value.length > MAX_COOKIE_CHARACTERS) continue;
    const last = Math.max(...sessions.map(({ endsAt }) => endsAt));
    return sessionCookie(scheme, STEM, value, Math.ceil(last - nowMs / 1000) + AFTER_END_SECONDS);
  }
  return clearedCookie(scheme, STEM);
}

/**
 * The sessions of the note in a request, of several notes those of the first that was sealed with one of these keys;
 * none without one.
 */
export function notedSessions(
  request: Pick<Request, "url" | "headers">,
  keys: readonly KeyObject[],
): readonly NotedSession[] {
  for (const value of sessionValues(request, STEM)) {
    const { text } = openWithOne(Buffer.from(value, "base64url"), keys, STEM) ?? {};
    const { data } = SESSIONS.safeParse(text === undefined ? null : parsedJson(text));
    if (data) return data;
  }
  return [];
}
