import { Buffer } from "node:buffer";
import { createHash, type KeyObject } from "node:crypto";
import { z } from "zod";
import type { S3Keys } from "./store_credentials.ts";
import { cookieValues } from "@/lib/http/header_values.ts";
import { openText, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { browserScheme, type Scheme } from "./browser_origin.ts";

/** Longest value that is set, characters: browsers silently drop cookies above 4096 bytes, name and attributes included. */
export const MAX_COOKIE_CHARACTERS = 4096 - 256;
/** Longest value that can be a session, characters; longer ones are ignored. */
const MAX_VALUE_CHARACTERS = 4096;
/** Values that are tried; further ones are ignored. */
const MAX_VALUES = 4;
/** The characters of a cookie's value (RFC 6265 §4.1.1). */
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

/**
 * The session cookie's name: on HTTPS with the prefix that binds it to this host (RFC 6265bis §4.1.3), on plain HTTP without.
 */
export function cookieName(stem: string, scheme: Scheme): string {
  return scheme === "https" ? `__Host-${stem}` : stem;
}

/**
 * The distinct values of the request's session cookies in their order, under the name of the browser's scheme only.
 * Values that cannot be a session are left out. A browser sends several where another host of the same domain or another
 * path has set one; only the session key can tell which is genuine.
 */
export function sessionValues(request: Pick<Request, "url" | "headers">, stem: string): string[] {
  const values = new Set<string>();
  for (const value of cookieValues(request.headers, cookieName(stem, browserScheme(request)))) {
    if (value.length <= MAX_VALUE_CHARACTERS && VALUE.test(value)) values.add(value);
    if (values.size === MAX_VALUES) break;
  }
  return [...values];
}

/** The `Set-Cookie` value that keeps a session in the browser for `maxAgeSeconds`. */
export function sessionCookie(scheme: Scheme, stem: string, token: string, maxAgeSeconds: number): string {
  const secure = scheme === "https" ? "; Secure" : "";
  const age = Math.floor(maxAgeSeconds);
  return `${cookieName(stem, scheme)}=${token}; Max-Age=${age}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/** The `Set-Cookie` value that removes the session from the browser. */
export function clearedCookie(scheme: Scheme, stem: string): string {
  return sessionCookie(scheme, stem, "", 0);
}

/** What a token holds: the user, the S3 keys, and the times of its end and its issue. */
const CONTENT = z.object({
  u: z.string(),
  a: z.string(),
  s: z.string(),
  e: z.number(),
  i: z.number().nullable().default(null),
});

/** A user of the results store and the keys with which their files are read. */
export interface Session {
  readonly user: string;
  readonly keys: S3Keys;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  /** Seconds since 1970; null in a token of an older version, which did not contain it. */
  readonly issuedAt: number | null;
}

/**
 * Seals a session, so that only the key can read or change it; base64url. Null when the token would be too long for a
 * cookie.
 *
 * @param associated associated data; a token opens only with the same
 */
export function sealSession(session: Session, key: KeyObject, associated: string): string | null {
  const { user, keys, expiresAt, issuedAt } = session;
  const text = JSON.stringify({
    u: user,
    a: keys.accessKey,
    s: keys.secretKey,
    e: expiresAt,
    i: issuedAt ?? undefined,
  });
  const token = sealText(text, key, associated).toString("base64url");
  return token.length > MAX_COOKIE_CHARACTERS ? null : token;
}

/**
 * The session in a token; null for one that is expired, was sealed with another key or other associated data, was
 * changed, or is not a token.
 *
 * @param nowMs ms since 1970
 */
export function openSession(token: string, key: KeyObject, associated: string, nowMs: number): Session | null {
  const sealed = Buffer.from(token, "base64url");
  // Decoding skips invalid characters, but a session has one spelling.
  if (sealed.toString("base64url") !== token) return null;
  const text = openText(sealed, key, associated);
  const session = text === null ? null : parseSession(text);
  return session && session.expiresAt * 1000 > nowMs ? session : null;
}

/** The digest of a token, for places where the token itself must not be stored. */
export function sessionDigest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/** Another implementation may share the key, so the content is validated like any input. */
function parseSession(text: string): Session | null {
  const { data } = CONTENT.safeParse(parsedJson(text));
  return data
    ? { user: data.u, keys: { accessKey: data.a, secretKey: data.s }, expiresAt: data.e, issuedAt: data.i }
    : null;
}
