import { errors, jwtVerify, type JWTVerifyResult, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { type HttpError, notAuthenticated, unprocessable } from "@/lib/http/errors.ts";
import { TENANT_NAME } from "./login.ts";

/** Longest token that is issued or verified, characters. */
export const MAX_TOKEN_CHARACTERS = 8 * 1024;
const MAX_CACHED_TOKENS = 1000;
const ALGORITHM = "HS256";
/** The compact form without padding and blanks, so that each token has one spelling. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The claims of a token (spec, Token response and payload). */
export interface Claims {
  /** The username without a tenant. */
  readonly sub: string;
  /** The password in clear. */
  readonly pwd: string;
  readonly tenant: string | null;
}

const PAYLOAD_SCHEMA = z.object({
  sub: z.string().optional(),
  pwd: z.string().default(""),
  tenant: z.string().regex(TENANT_NAME).nullish(),
  exp: z.number(),
});

/** The imported key that signs and verifies tokens; it cannot be exported. */
export type TokenKey = Promise<CryptoKey>;

/** Imports the configured secret bytes as a key. */
export function tokenKey(secret: Uint8Array<ArrayBuffer>): TokenKey {
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

/**
 * Signs a token (RFC 7519, HS256) that carries the caller's credentials; it is signed, not encrypted.
 *
 * @param nowSeconds the time, seconds since 1970
 * @throws HttpError 422 when the token would be longer than {@link MAX_TOKEN_CHARACTERS}
 */
export async function issueToken(
  claims: Claims,
  key: TokenKey,
  nowSeconds: number,
  lifetimeMinutes: number,
): Promise<string> {
  const payload = {
    sub: claims.sub,
    pwd: claims.pwd,
    ...(claims.tenant === null ? {} : { tenant: claims.tenant }),
    exp: Math.floor(nowSeconds) + lifetimeMinutes * 60,
  };
  const token = await new SignJWT(payload).setProtectedHeader({ alg: ALGORITHM, typ: "JWT" }).sign(await key);
  if (token.length > MAX_TOKEN_CHARACTERS) throw unprocessable("username and password are too long");
  return token;
}

/** Returns the claims of a token at a time in seconds since 1970; synchronously where the token is cached. */
export type VerifyToken = (token: string, nowSeconds: number) => Claims | Promise<Claims>;

interface Verified {
  readonly claims: Claims;
  readonly exp: number;
}

/**
 * A verifier of bearer tokens that caches the last {@link MAX_CACHED_TOKENS} verified ones. Expiry is checked each time,
 * without leeway. A token without `exp` is rejected.
 *
 * The verifier throws HttpError 401 with `Invalid token`, `Token has expired` or `Invalid token: no subject`.
 */
export function tokenVerifier(key: TokenKey): VerifyToken {
  const verified = new LRUCache<string, Verified>({ max: MAX_CACHED_TOKENS });
  const verify = async (token: string, nowSeconds: number) => {
    const entry = await readToken(token, key, nowSeconds);
    verified.set(token, entry);
    return entry.claims;
  };
  return function verifyToken(token, nowSeconds) {
    const entry = verified.get(token);
    if (!entry) return verify(token, nowSeconds);
    if (entry.exp > nowSeconds) return entry.claims;
    verified.delete(token);
    throw expired();
  };
}

/** The token of an Authorization header; the scheme is compared without case (RFC 9110 §11.1). */
export function bearerToken(authorization: string | null): string {
  const match = /^bearer +([^\s]+)\s*$/i.exec(authorization ?? "");
  if (!match) throw notAuthenticated();
  return match[1];
}

async function readToken(token: string, key: TokenKey, nowSeconds: number): Promise<Verified> {
  if (token.length > MAX_TOKEN_CHARACTERS || !COMPACT.test(token)) throw invalidToken();
  const { protectedHeader, payload } = await verifySignature(token, await key, nowSeconds);
  const parsed = PAYLOAD_SCHEMA.safeParse(payload);
  // No header extension is supported, so a critical one must be rejected (RFC 7515 §4.1.11).
  if (protectedHeader.crit !== undefined || !parsed.success) throw invalidToken();
  const { sub, pwd, tenant, exp } = parsed.data;
  if (sub === undefined) throw notAuthenticated("Invalid token: no subject");
  return { claims: { sub, pwd, tenant: tenant ?? null }, exp };
}

async function verifySignature(token: string, key: CryptoKey, nowSeconds: number): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, key, { algorithms: [ALGORITHM], currentDate: new Date(nowSeconds * 1000) });
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw expired();
    if (error instanceof errors.JOSEError) throw invalidToken();
    throw error;
  }
}

function invalidToken(): HttpError {
  return notAuthenticated("Invalid token");
}

function expired(): HttpError {
  return notAuthenticated("Token has expired");
}
