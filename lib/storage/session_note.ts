import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Scheme } from "@/lib/results/browser_origin.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { accountName } from "./storage_account.ts";
import type { StorageLogin } from "./storage_cookie.ts";

const COOKIE = "storage_note";
/** How long after the end of the last session the storage pages say that it has ended, seconds. */
const AFTER_END_SECONDS = 24 * 3600;
/** Longest value, characters: browsers drop cookies above 4096 bytes, name and attributes included. */
const MAX_VALUE_CHARACTERS = 4096 - 256;
/** An instant that JavaScript's dates can hold, seconds since 1970: the cookie may hold anything. */
const SESSIONS = z.array(z.object({ account: z.string().max(600), endsAt: z.number().min(0).max(8.64e12) })).max(8);

/** A session that a browser has, or had, at the storage: the account's name and its end, seconds since 1970. */
type NotedSession = z.output<typeof SESSIONS>[number];

/**
 * The `Set-Cookie` value that notes the sessions of a browser, so that the storage pages can name one that has ended. It
 * holds no credential and decides nothing. What does not fit is left out, the oldest first.
 *
 * @param logins the newest first; none removes the note
 * @param nowMs ms since 1970
 */
export function sessionNoteCookie(
  scheme: Scheme,
  logins: readonly Pick<StorageLogin, "tenant" | "user" | "expiresAt">[],
  nowMs: number,
): string {
  const sessions = logins.map((login): NotedSession => ({ account: accountName(login), endsAt: login.expiresAt }));
  const valueOf = (count: number) => Buffer.from(JSON.stringify(sessions.slice(0, count))).toString("base64url");
  let count = sessions.length;
  while (valueOf(count).length > MAX_VALUE_CHARACTERS) count--;
  const last = Math.max(...sessions.map(({ endsAt }) => endsAt));
  const age = count === 0 ? 0 : Math.ceil(last - nowMs / 1000) + AFTER_END_SECONDS;
  const secure = scheme === "https" ? "; Secure" : "";
  return `${COOKIE}=${
    count === 0 ? "" : valueOf(count)
  }; Max-Age=${age}; Path=/storage; HttpOnly; SameSite=Strict${secure}`;
}

/** The sessions of the note in a request; none without a well-formed one. */
export function notedSessions({ headers }: Pick<Request, "headers">): readonly NotedSession[] {
  for (const part of (headers.get("Cookie") ?? "").split(";")) {
    const cut = part.indexOf("=");
    if (cut < 0 || part.slice(0, cut).trim() !== COOKIE) continue;
    const value = part.slice(cut + 1).trim();
    if (value.length > MAX_VALUE_CHARACTERS) return [];
    return SESSIONS.safeParse(parsedJson(Buffer.from(value, "base64url").toString("utf8"))).data ?? [];
  }
  return [];
}
