import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { credentialsRefused } from "@/lib/http/errors.ts";
import type { SentFor } from "@/lib/std/store_addresses.ts";
import type { UserCheck } from "./users_file.ts";

export interface S3Keys {
  readonly accessKey: string;
  readonly secretKey: string;
}

/** A caller towards the store. */
export interface Identity {
  readonly username: string;
  /** Null: system level. */
  readonly tenant: string | null;
  readonly s3: S3Keys;
  /** The `Authorization` header for MAPI; null where the credentials fit no header. */
  readonly mapiAuthorization: string | null;
  /** Whether the store knows the caller as a user of a tenant, rather than only by S3 keys. */
  readonly named: boolean;
}

/**
 * The store's verdict on the credentials of a request. `denied`: wrong or without permission, which MAPI does not
 * distinguish. Many responses say nothing.
 */
export type Verdict = "accepted" | "refused" | "denied";

/** An identity, the request that it is for, and the signal that aborts when that is cancelled. */
export interface Caller extends Identity, SentFor {
  readonly signal?: AbortSignal;
  /**
   * Receives the verdict of each response of the store. A returned promise settles once it is known what `denied` means:
   * MAPI calls wait for it.
   */
  readonly onVerdict?: (verdict: Verdict) => void | Promise<void>;
  /**
   * Checks by a signed request that the store accepts the keys, for operations that need nothing else of it. Absent where
   * it accepted them recently, or the gateway checked the login itself. @throws HttpError when it does not
   */
  readonly prove?: () => Promise<void>;
}

/** The claims of a token (spec, Token response and payload). */
export interface Claims {
  /** The username without a tenant. */
  readonly sub: string;
  /** The password in clear. */
  readonly pwd: string;
  readonly tenant: string | null;
}

/**
 * Turns the claims of a verified token into store credentials. A promise says that they depend on more than the claims.
 * Throws HttpError 401 when they cannot be valid.
 */
export type Identify = (claims: Claims) => Identity | Promise<Identity>;

/** `STORE_AUTH_TYPE`: how MAPI requests name their caller (spec, Object-store authentication types). */
type StoreAuthType = "native" | "ad";

/**
 * Identities of an HCP-type store: derived from each caller's own credentials. S3 keys are the same under both types.
 */
export function storeIdentities(type: StoreAuthType): Identify {
  return (claims) => {
    const { user, digest } = derived(claims.sub, claims.pwd);
    return identity(type, claims, { accessKey: user, secretKey: digest }, true);
  };
}

/** Identities of a generic store where the username and password are the caller's own access key and secret. */
export function ownKeyIdentities(type: StoreAuthType): Identify {
  return (claims) => {
    const { sub, pwd } = claims;
    // An access key is part of the Authorization header, between separators.
    if (!/^[\x21-\x2b\x2d-\x7e]{1,512}$/.test(sub)) throw credentialsRefused("S3 authentication failed");
    return identity(type, claims, { accessKey: sub, secretKey: pwd }, false);
  };
}

/**
 * Identities of a generic store with configured keys, shared by all callers. With `check` only callers that it accepts
 * are admitted; it is called for every request.
 */
export function sharedKeyIdentities(keys: S3Keys, check: UserCheck | null, type: StoreAuthType): Identify {
  return async (claims) => {
    if (check && !(await check(claims.sub, claims.pwd))) throw credentialsRefused("Invalid username or password");
    return identity(type, claims, keys, false);
  };
}

function identity(type: StoreAuthType, { sub, pwd, tenant }: Claims, s3: S3Keys, named: boolean): Identity {
  return { username: sub, tenant, s3, mapiAuthorization: mapiHeader(type, sub, pwd), named };
}

/** The caller in a MAPI request, independent of the S3 keys: MAPI knows its own accounts only. */
function mapiHeader(type: StoreAuthType, username: string, password: string): string | null {
  if (type === "ad") return adHeader(username, password);
  const { user, digest } = derived(username, password);
  return `HCP ${user}:${digest}`;
}

function derived(username: string, password: string): { user: string; digest: string } {
  return {
    user: Buffer.from(username, "utf8").toString("base64"),
    digest: createHash("md5").update(password, "utf8").digest("hex"),
  };
}

/** A header is a byte string: UTF-8 goes in as bytes. Null where a control character or a trailing blank would change it. */
function adHeader(username: string, password: string): string | null {
  const bytes = Buffer.from(`AD ${username}:${password}`, "utf8").toString("latin1");
  // deno-lint-ignore no-control-regex
  return /[\x00-\x1f\x7f]|\s$/.test(bytes) ? null : bytes;
}
