import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { credentialsRefused } from "@/lib/http/errors.ts";
import type { Claims } from "./token.ts";
import type { UserCheck } from "./users_file.ts";

export interface S3Keys {
  readonly accessKey: string;
  readonly secretKey: string;
}

/** A caller towards the store. */
interface Identity {
  readonly username: string;
  /** Null: system level. */
  readonly tenant: string | null;
  readonly s3: S3Keys;
  /** The `Authorization` header for MAPI; null where the credentials fit no header. */
  readonly mapiAuthorization: string | null;
  /** Whether the store knows the caller as a user of a tenant, or only by S3 keys. */
  readonly named: boolean;
}

/**
 * What an answer of the store says about the credentials that it was asked with: that they are right, that they are
 * wrong, or that they are wrong or may not do this, which MAPI does not tell apart. Many answers say nothing.
 */
export type Verdict = "accepted" | "refused" | "denied";

/** An identity and, while a request waits for the answer, the signal that tells when it no longer does. */
export interface Caller extends Identity {
  readonly signal?: AbortSignal;
  /** Hears what each answer of the store says about the credentials. */
  readonly heard?: (verdict: Verdict) => void;
}

/** Turns the claims of a verified token into store credentials; throws HttpError 401 where they can be none. */
export type Identify = (claims: Claims) => Identity | Promise<Identity>;

/** `STORE_AUTH_TYPE`: how MAPI is told who calls (spec, Object-store authentication types). */
type StoreAuthType = "native" | "ad";

/**
 * Identities of an HCP-type store: every caller's own credentials, derived; S3 keys are the same under both types. An
 * identity is kept as long as the claims are that it was made of.
 */
export function storeIdentities(type: StoreAuthType): Identify {
  return cachedByClaims((claims) => storeIdentity(type, claims));
}

function cachedByClaims(make: (claims: Claims) => Identity): (claims: Claims) => Identity {
  const known = new WeakMap<Claims, Identity>();
  return (claims) => {
    let identity = known.get(claims);
    if (!identity) known.set(claims, identity = make(claims));
    return identity;
  };
}

function storeIdentity(type: StoreAuthType, { sub, pwd, tenant }: Claims): Identity {
  const { user, digest } = derived(sub, pwd);
  return {
    username: sub,
    tenant,
    s3: { accessKey: user, secretKey: digest },
    mapiAuthorization: mapiHeader(type, sub, pwd),
    named: true,
  };
}

/** Identities of a generic store where the username and password are the caller's own access key and secret. */
export function ownKeyIdentities(type: StoreAuthType): Identify {
  return cachedByClaims(({ sub, pwd, tenant }) => {
    // An access key stands in the Authorization header, between separators of its own.
    if (!/^[\x21-\x2b\x2d-\x7e]{1,512}$/.test(sub)) throw credentialsRefused("S3 authentication failed");
    return {
      username: sub,
      tenant,
      s3: { accessKey: sub, secretKey: pwd },
      mapiAuthorization: mapiHeader(type, sub, pwd),
      named: false,
    };
  });
}

/**
 * Identities of a generic store with configured keys, which serve everybody: with `check` only those whom it knows,
 * asked again on every request.
 */
export function sharedKeyIdentities(keys: S3Keys, check: UserCheck | null, type: StoreAuthType): Identify {
  return async ({ sub, pwd, tenant }) => {
    if (check && !(await check(sub, pwd))) throw credentialsRefused("Invalid username or password");
    return { username: sub, tenant, s3: keys, mapiAuthorization: mapiHeader(type, sub, pwd), named: false };
  };
}

/** How MAPI is told who calls, whatever keys S3 is signed with: it knows its own accounts only. */
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

/** A header is a byte string: UTF-8 goes in as bytes, and what could end the header or vanish at its ends does not. */
function adHeader(username: string, password: string): string | null {
  const bytes = Buffer.from(`AD ${username}:${password}`, "utf8").toString("latin1");
  // deno-lint-ignore no-control-regex
  return /[\x00-\x1f\x7f]|\s$/.test(bytes) ? null : bytes;
}
