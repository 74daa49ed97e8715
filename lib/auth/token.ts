import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { BoundedCache } from "@/lib/bounded_cache.ts";
import { notAuthenticated, unprocessable } from "@/lib/http/errors.ts";
import { hmacAfter } from "@/lib/sha256.ts";
import { TENANT_NAME } from "./login.ts";

/** Longest token that is issued or looked at, characters. */
export const MAX_TOKEN_CHARACTERS = 8 * 1024;
const MAX_CACHED_TOKENS = 1000;
const SIGNATURE_BYTES = 32;
const HEADER = encode({ alg: "HS256", typ: "JWT" });
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What a token says (spec, Token response and payload). */
export interface Claims {
  /** The username without a tenant. */
  readonly sub: string;
  /** The password in clear. */
  readonly pwd: string;
  readonly tenant: string | null;
}

const HEADER_SCHEMA = z.object({ alg: z.literal("HS256"), crit: z.undefined().optional() });
const PAYLOAD_SCHEMA = z.object({
  sub: z.string().optional(),
  pwd: z.string().default(""),
  tenant: z.string().regex(TENANT_NAME).nullish(),
  exp: z.number(),
});

/**
 * Signs a token (RFC 7519, HS256) that carries the caller's credentials; it is signed, not encrypted.
 *
 * @param nowSeconds the time, seconds since 1970
 * @throws HttpError 422 when the token would be longer than {@link MAX_TOKEN_CHARACTERS}
 */
export function issueToken(claims: Claims, key: TokenKey, nowSeconds: number, lifetimeMinutes: number): string {
  const payload = {
    sub: claims.sub,
    pwd: claims.pwd,
    ...(claims.tenant === null ? {} : { tenant: claims.tenant }),
    exp: Math.floor(nowSeconds) + lifetimeMinutes * 60,
  };
  const signed = `${HEADER}.${encode(payload)}`;
  const token = `${signed}.${signature(signed, key).toString("base64url")}`;
  if (token.length > MAX_TOKEN_CHARACTERS) throw unprocessable("username and password are too long");
  return token;
}

/** What signs tokens, ready to use; it shows nothing of the secret. */
export type TokenKey = (signed: string) => Int32Array;

const HMAC_BLOCK_BYTES = 64;

/** Makes the key of the configured secret bytes: one that is longer than a block counts by its digest (RFC 2104 §2). */
export function tokenKey(secret: Uint8Array): TokenKey {
  return hmacAfter(secret.length > HMAC_BLOCK_BYTES ? createHash("sha256").update(secret).digest() : secret, "");
}

export type VerifyToken = (token: string, nowSeconds: number) => Claims;

/**
 * A verifier of bearer tokens that remembers the last {@link MAX_CACHED_TOKENS} verified ones; whether a token has
 * expired is asked each time, with no leeway. A token without `exp` is refused.
 *
 * The verifier throws HttpError 401 with `Invalid token`, `Token has expired` or `Invalid token: no subject`.
 */
export function tokenVerifier(key: TokenKey): VerifyToken {
  const verified = new BoundedCache<string, { readonly claims: Claims; readonly exp: number }>(MAX_CACHED_TOKENS);
  return function verifyToken(token, nowSeconds) {
    let entry = verified.get(token);
    if (!entry) {
      const { sub, pwd, tenant, exp } = readToken(token, key);
      if (exp <= nowSeconds) throw notAuthenticated("Token has expired");
      if (sub === undefined) throw notAuthenticated("Invalid token: no subject");
      entry = { claims: { sub, pwd, tenant: tenant ?? null }, exp };
      verified.set(token, entry);
    }
    if (entry.exp <= nowSeconds) {
      verified.delete(token);
      throw notAuthenticated("Token has expired");
    }
    return entry.claims;
  };
}

/** The token of an Authorization header; the scheme is compared without case (RFC 9110 §11.1). */
export function bearerToken(authorization: string | null): string {
  const match = /^bearer +([^\s]+)\s*$/i.exec(authorization ?? "");
  if (!match) throw notAuthenticated();
  return match[1];
}

function readToken(token: string, key: TokenKey): z.output<typeof PAYLOAD_SCHEMA> {
  if (token.length > MAX_TOKEN_CHARACTERS || !COMPACT.test(token)) throw notAuthenticated("Invalid token");
  const end = token.lastIndexOf(".");
  const [header, payload] = token.split(".", 2);
  const given = Buffer.from(token.slice(end + 1), "base64url");
  const expected = signature(token.slice(0, end), key);
  const genuine = given.length === expected.length && timingSafeEqual(given, expected);
  if (!genuine || !HEADER_SCHEMA.safeParse(decode(header)).success) throw notAuthenticated("Invalid token");
  const parsed = PAYLOAD_SCHEMA.safeParse(decode(payload));
  if (!parsed.success) throw notAuthenticated("Invalid token");
  return parsed.data;
}

function signature(signed: string, key: TokenKey): Buffer {
  const digest = Buffer.allocUnsafe(SIGNATURE_BYTES);
  const words = key(signed);
  for (let index = 0; index < words.length; index++) digest.writeInt32BE(words[index], index * 4);
  return digest;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString());
  } catch {
    return undefined;
  }
}
