import { Buffer } from "node:buffer";
import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { UNCACHED } from "@/lib/http/app.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { cookieValues } from "@/lib/http/header_values.ts";
import { forwarded } from "@/lib/http/request_context.ts";
import { fileIdentity } from "@/lib/std/files.ts";
import { openWithOne, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { S3Keys } from "./store_credentials.ts";

/** Longest value that is set, characters: browsers silently drop cookies above 4096 bytes, name and attributes included. */
const MAX_COOKIE_CHARACTERS = 4096 - 256;
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

/** The user, the S3 keys, and the times of end and issue. */
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
 * Seals a value as JSON, so that only the key can read or change it; base64url. Null when the token would be too long for
 * a cookie.
 *
 * @param associated associated data; a token opens only with the same
 */
export function sealToken(value: object, key: KeyObject, associated: string): string | null {
  const token = sealText(JSON.stringify(value), key, associated).toString("base64url");
  return token.length > MAX_COOKIE_CHARACTERS ? null : token;
}

/**
 * The value in a token and the key that opened it; null for one that was sealed with another key or other associated data,
 * was changed, or is not a token. Another implementation may share the key, so the value is validated.
 */
export function openToken<S extends z.ZodType>(
  token: string,
  keys: readonly KeyObject[],
  associated: string,
  schema: S,
): { readonly value: z.output<S>; readonly key: KeyObject } | null {
  const sealed = Buffer.from(token, "base64url");
  // Decoding skips invalid characters, but a token has one spelling.
  if (sealed.toString("base64url") !== token) return null;
  const opened = openWithOne(sealed, keys, associated);
  const result = schema.safeParse(opened && parsedJson(opened.text));
  return opened && result.success ? { value: result.data, key: opened.key } : null;
}

/** As {@link sealToken}. */
export function sealSession(session: Session, key: KeyObject, associated: string): string | null {
  const { user: u, keys: { accessKey: a, secretKey: s }, expiresAt: e, issuedAt } = session;
  return sealToken({ u, a, s, e, i: issuedAt ?? undefined }, key, associated);
}

/**
 * The session in a token; null for one that is expired, or that {@link openToken} does not open.
 *
 * @param nowMs ms since 1970
 */
export function openSession(token: string, key: KeyObject, associated: string, nowMs: number): Session | null {
  const { value } = openToken(token, [key], associated, CONTENT) ?? {};
  if (!value || value.e * 1000 <= nowMs) return null;
  const { u: user, a: accessKey, s: secretKey, e: expiresAt, i: issuedAt } = value;
  return { user, keys: { accessKey, secretKey }, expiresAt, issuedAt };
}

/** The digest of a token, for places where the token itself must not be stored. */
export function sessionDigest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/**
 * Returns the keys of session cookies: the first one seals, and each of them opens. None while they cannot be read. The
 * list is the same object until the keys are replaced.
 */
export type SessionKeys = () => readonly KeyObject[];

/** Thrown at the start. The message is one line that names the file and nothing of its content. */
export class SessionKeyError extends Error {
  override readonly name = "SessionKeyError";
}

/** Bytes of an AES-256 key. */
const SESSION_KEY_BYTES = 32;
/** While a key is replaced there is another one beside it. */
const MAX_KEYS = 2;
const NO_KEYS: readonly KeyObject[] = [];

/** Fixed keys, the one that seals first. @throws SessionKeyError unless each has 32 bytes */
export function givenSessionKeys(...keys: readonly Uint8Array[]): SessionKeys {
  if (keys.some(({ length }) => length !== SESSION_KEY_BYTES)) {
    throw new SessionKeyError("The session key must have 32 bytes.");
  }
  const given = keys.map((key) => createSecretKey(key));
  return () => given;
}

/**
 * The keys in a file, as {@linkcode parseSessionKeys} reads them. Each call checks whether the file was replaced and reads
 * it again then, so new keys take effect at once. While the file cannot be read there are no keys.
 *
 * @throws SessionKeyError when there is no key at the start
 */
export function sessionKeyFile(path: string): SessionKeys {
  let seen: string | null = null;
  let keys = NO_KEYS;
  const current = () => {
    try {
      // Checked before the read: the next call notices a replacement in between.
      const file = fileIdentity(Deno.statSync(path));
      if (file === seen) return keys;
      keys = NO_KEYS;
      keys = parseSessionKeys(Deno.readTextFileSync(path))?.map((key) => createSecretKey(key)) ?? NO_KEYS;
      seen = file;
    } catch {
      keys = NO_KEYS;
      seen = null;
    }
    return keys;
  };
  if (current().length === 0) {
    throw new SessionKeyError(
      `RESULTS_SESSION_KEY_FILE: ${path} cannot be read, or is not the base64 of 32 bytes: write the output of "openssl rand -base64 32" there`,
    );
  }
  return current;
}

/** One or two keys, each the base64 of 32 bytes, on a line each or with blanks between; null for anything else. */
export function parseSessionKeys(text: string): readonly Uint8Array[] | null {
  const keys = text.trim().split(/\s+/);
  const areKeys = keys.length <= MAX_KEYS && keys.every((key) => /^[A-Za-z0-9+/]{43}=$/.test(key));
  return areKeys ? keys.map((key) => Buffer.from(key, "base64")) : null;
}

/** The scheme of the site's URL in the browser. */
export type Scheme = "http" | "https";

type Addressed = Pick<Request, "url" | "headers">;

/** The scheme in the browser's address bar: `X-Forwarded-Proto` of our own proxies, else that of the request. */
export function browserScheme(request: Addressed): Scheme {
  const stated = forwarded(request, "X-Forwarded-Proto")?.toLowerCase();
  if (stated === "http" || stated === "https") return stated;
  return request.url.startsWith("https:") ? "https" : "http";
}

/** The results on the request's own origin, which is only used where the Host name was checked before. */
export function ownResultsUrl(request: Request): string {
  return `${browserScheme(request)}://${new URL(request.url).host}/results`;
}

/** The host and port in the browser's address bar as they were sent, found likewise. */
export function browserHost(request: Addressed): string {
  return forwarded(request, "X-Forwarded-Host") ?? request.headers.get("Host") ?? URL.parse(request.url)?.host ?? "";
}

/**
 * Rejects a login or logout sent by a page of another site: the `Origin` header must name the site as the browser
 * reached it, scheme and port included (RFC 6454 §7). Browsers send it with every POST, so a missing one is rejected.
 *
 * @throws HttpError 403; its code says which part differs, since a proxy may have left a header out
 */
export function requireSameOrigin(request: Pick<Request, "url" | "headers">): void {
  const host = browserHost(request);
  const origin = request.headers.get("Origin");
  // Browsers write an origin without its default port, a Host header may carry it.
  const own = /^[\w.:[\]-]+$/.test(host) ? URL.parse(`${browserScheme(request)}://${host}`)?.origin : null;
  if (!origin || !own || origin.toLowerCase() !== own) {
    const isSameHost = URL.parse(origin ?? "")?.host === URL.parse(own ?? "")?.host;
    const coded = { code: isSameHost ? "origin_scheme" : "origin_host" } as const;
    throw new HttpError(403, "cross-origin request refused", { headers: UNCACHED, coded });
  }
}
