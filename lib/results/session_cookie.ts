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
  const name = cookieName(stem, browserScheme(request));
  const values = new Set<string>();
  for (const part of (request.headers.get("Cookie") ?? "").split(";")) {
    const cut = part.indexOf("=");
    if (cut < 0 || part.slice(0, cut).trim() !== name) continue;
    const value = part.slice(cut + 1).trim();
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
