import { Buffer } from "node:buffer";
import { z } from "zod";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { Scheme } from "./browser_origin.ts";

const COOKIE = "login_note";
/** How long a browser keeps a note about a form, seconds. */
const SHORT_SECONDS = 600;
/** How long after its end the login page says that a session has ended, seconds. */
const AFTER_END_SECONDS = 24 * 3600;
/** Longest value that is read, characters: any name of 256 characters fits, also where JSON escapes each of them. */
const MAX_VALUE_CHARACTERS = 4096;
/** An instant that JavaScript's dates can hold, ms since 1970: the cookie may hold anything. */
const INSTANT = z.number().min(0).max(8.64e15);

const NOTE = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("failed"),
    username: z.string().max(256),
    /** When the next attempt is allowed after too many wrong passwords, ms since 1970; null: not blocked. */
    retryAt: INSTANT.nullable(),
  }),
  z.object({
    kind: z.literal("session"),
    /** When the session ends by itself, ms since 1970. */
    endsAt: INSTANT,
  }),
  z.object({ kind: z.literal("loggedOut") }),
]);

/**
 * What the last login or logout form of a browser leaves for its next login page: the user name of a failed login, the
 * end of a session, a logout. It holds no credential and decides nothing.
 */
export type LoginNote = z.output<typeof NOTE>;

/**
 * The `Set-Cookie` value that leaves a note, in place of the one before it. Only the login page receives it, so that a
 * name stands in no address and in no log.
 *
 * @param now ms since 1970
 */
export function loginNoteCookie(scheme: Scheme, note: LoginNote, now: number): string {
  const value = Buffer.from(JSON.stringify(note)).toString("base64url");
  const age = note.kind === "session"
    ? Math.ceil((note.endsAt - now) / 1000) + AFTER_END_SECONDS
    : Math.max(SHORT_SECONDS, note.kind === "failed" && note.retryAt !== null ? (note.retryAt - now) / 1000 : 0);
  const secure = scheme === "https" ? "; Secure" : "";
  return `${COOKIE}=${value}; Max-Age=${Math.ceil(age)}; Path=/login; HttpOnly; SameSite=Strict${secure}`;
}

/** The note in a request for the login page; null without a well-formed one. */
export function readLoginNote({ headers }: Pick<Request, "headers">): LoginNote | null {
  for (const part of (headers.get("Cookie") ?? "").split(";")) {
    const cut = part.indexOf("=");
    if (cut < 0 || part.slice(0, cut).trim() !== COOKIE) continue;
    const value = part.slice(cut + 1).trim();
    if (value.length > MAX_VALUE_CHARACTERS) return null;
    return NOTE.safeParse(parsedJson(Buffer.from(value, "base64url").toString("utf8"))).data ?? null;
  }
  return null;
}
