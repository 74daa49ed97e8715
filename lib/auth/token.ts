import { createSecretKey, type KeyObject } from "node:crypto";
import { EncryptJWT, errors, jwtDecrypt, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { type HttpError, notAuthenticated, unprocessable } from "@/lib/http/errors.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { derivedKey } from "@/lib/std/sealed_text.ts";

/** Longest token that is issued or verified, characters. */
export const MAX_TOKEN_CHARACTERS = 8 * 1024;
const MAX_CACHED_TOKENS = 1000;
/** At least so many tokens are added before expired ones are looked for. */
const MIN_ADDED = 64;
const SIGNATURE = "HS256";
/** The encryption key is used as it is (RFC 7518 §4.5). */
const KEY_MANAGEMENT = "dir";
const ENCRYPTION = "A256GCM";
/** The compact forms without padding and blanks, so that each token has one spelling. */
const SIGNED = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const ENCRYPTED = /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/;

/** The form of a token. A signed one shows its claims, the password among them, to its reader. */
export type TokenFormat = "signed" | "encrypted";

/** The claims of a token (spec, Token response and payload). */
export interface Claims {
  /** The username without a tenant. */
  readonly sub: string;
  /** The password in clear. */
  readonly pwd: string;
  readonly tenant: string | null;
}

/** Letters and digits, hyphens in between (spec, Username and tenant forms). It becomes a host label. */
const TENANT_NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;

const PAYLOAD_SCHEMA = z.object({
  sub: z.string().optional(),
  pwd: z.string().default(""),
  tenant: z.string().regex(TENANT_NAME).nullish(),
  exp: z.number(),
});

/** The keys of tokens. */
export interface TokenKey {
  /** Signs and verifies. */
  readonly signing: KeyObject;
  /** Encrypts and decrypts. */
  readonly encryption: KeyObject;
}

/** The keys that follow from the configured secret bytes. */
export function tokenKey(secret: Uint8Array): TokenKey {
  return { signing: createSecretKey(secret), encryption: derivedKey(secret, "token encryption") };
}

interface Issue {
  /** Seconds since 1970. */
  readonly nowSeconds: number;
  readonly lifetimeMinutes: number;
  readonly format?: TokenFormat;
}

/**
 * Issues a token that carries the caller's credentials: signed with HS256 (RFC 7519), or encrypted with AES-256-GCM
 * (RFC 7516).
 *
 * @throws HttpError 422 when the token would be longer than {@link MAX_TOKEN_CHARACTERS}
 */
export async function issueToken(
  claims: Claims,
  key: TokenKey,
  { nowSeconds, lifetimeMinutes, format = "signed" }: Issue,
): Promise<string> {
  const payload = {
    sub: claims.sub,
    pwd: claims.pwd,
    ...(claims.tenant === null ? {} : { tenant: claims.tenant }),
    exp: Math.floor(nowSeconds) + lifetimeMinutes * 60,
  };
  const token = format === "signed"
    ? await new SignJWT(payload).setProtectedHeader({ alg: SIGNATURE, typ: "JWT" }).sign(key.signing)
    : await new EncryptJWT(payload).setProtectedHeader({ alg: KEY_MANAGEMENT, enc: ENCRYPTION, typ: "JWT" })
      .encrypt(key.encryption);
  if (token.length > MAX_TOKEN_CHARACTERS) throw unprocessable("username and password are too long");
  return token;
}

/** Returns the claims of a token at a time in seconds since 1970. */
export type VerifyToken = (token: string, nowSeconds: number) => Promise<Claims>;

interface Verified {
  readonly claims: Claims;
  readonly exp: number;
}

/**
 * A verifier of bearer tokens of both formats that caches the last {@link MAX_CACHED_TOKENS} verified ones. Expiry is
 * checked each time, without leeway. A token without `exp` is rejected.
 *
 * @param keys a token of any of them is accepted
 *
 * The verifier throws HttpError 401 with `Invalid token`, `Token has expired` or `Invalid token: no subject`.
 */
export function tokenVerifier(keys: readonly TokenKey[]): VerifyToken {
  const verified = new CountedCache<string, Verified>("tokens", { max: MAX_CACHED_TOKENS });
  let untilPurge = MIN_ADDED;
  const purge = (nowSeconds: number) => {
    // Expired tokens are seldom sent again, so they would stay until newer ones evict them.
    for (const [token, { exp }] of verified.entries()) if (exp <= nowSeconds) verified.delete(token);
    untilPurge = Math.max(MIN_ADDED, verified.size);
  };
  return async function verifyToken(token, nowSeconds) {
    const cached = verified.get(token);
    if (cached && cached.exp > nowSeconds) return cached.claims;
    verified.delete(token);
    const entry = await readToken(token, keys, nowSeconds);
    if (--untilPurge < 0) purge(nowSeconds);
    verified.set(token, entry);
    return entry.claims;
  };
}

/** The token of an Authorization header; the scheme is compared without case (RFC 9110 §11.1). */
export function bearerToken(authorization: string | null): string {
  const match = /^bearer +([^\s]+)\s*$/i.exec(authorization ?? "");
  if (!match) throw notAuthenticated();
  return match[1];
}

async function readToken(token: string, keys: readonly TokenKey[], nowSeconds: number): Promise<Verified> {
  if (token.length > MAX_TOKEN_CHARACTERS) throw invalidToken();
  const parsed = PAYLOAD_SCHEMA.safeParse(await authenticPayload(token, keys, nowSeconds));
  if (!parsed.success) throw invalidToken();
  const { sub, pwd, tenant, exp } = parsed.data;
  if (sub === undefined) throw notAuthenticated("Invalid token: no subject");
  return { claims: { sub, pwd, tenant: tenant ?? null }, exp };
}

/** The payload of a token that was issued with one of the keys. */
async function authenticPayload(token: string, keys: readonly TokenKey[], nowSeconds: number): Promise<JWTPayload> {
  const open = SIGNED.test(token) ? verified : ENCRYPTED.test(token) ? decrypted : null;
  if (open === null) throw invalidToken();
  const currentDate = new Date(nowSeconds * 1000);
  for (const key of keys) {
    try {
      const { protectedHeader, payload } = await open(token, key, currentDate);
      // No header extension is supported, so a critical one must be rejected (RFC 7515 §4.1.11).
      if (protectedHeader.crit !== undefined) throw invalidToken();
      return payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired();
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  throw invalidToken();
}

async function verified(token: string, { signing }: TokenKey, currentDate: Date) {
  return await jwtVerify(token, signing, { algorithms: [SIGNATURE], currentDate });
}

async function decrypted(token: string, { encryption }: TokenKey, currentDate: Date) {
  return await jwtDecrypt(token, encryption, {
    keyManagementAlgorithms: [KEY_MANAGEMENT],
    contentEncryptionAlgorithms: [ENCRYPTION],
    currentDate,
  });
}

function invalidToken(): HttpError {
  return notAuthenticated("Invalid token");
}

function expired(): HttpError {
  return notAuthenticated("Token has expired");
}

interface LoginForm {
  readonly username: string;
  /** The explicit tenant field. */
  readonly tenant?: string;
}

interface Login {
  readonly username: string;
  /** Null: system level. */
  readonly tenant: string | null;
}

/**
 * Resolves the tenant and username of a login form: the explicit tenant wins over a `tenant/` prefix of the username,
 * and neither means the system level. A prefix that repeats the explicit tenant is removed, any other is part of the
 * username.
 *
 * @throws HttpError 422 when the tenant is not a tenant name
 */
export function resolveLogin(form: LoginForm): Login {
  const explicit = form.tenant?.trim() ?? "";
  const slash = form.username.indexOf("/");
  const prefix = slash < 0 ? "" : form.username.slice(0, slash).trim();
  const rest = form.username.slice(slash + 1);
  if (explicit !== "") {
    const repeated = prefix.toLowerCase() === explicit.toLowerCase();
    return { tenant: checked(explicit), username: repeated ? rest : form.username };
  }
  return { tenant: prefix === "" ? null : checked(prefix), username: rest };
}

function checked(tenant: string): string {
  if (!TENANT_NAME.test(tenant)) throw unprocessable("Invalid tenant name");
  return tenant;
}
