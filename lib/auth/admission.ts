import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { EncryptJWT, errors, jwtDecrypt, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import { HttpError, notAuthenticated, tooManyRequests, unprocessable } from "@/lib/http/errors.ts";
import type { Authenticate } from "@/lib/http/operation.ts";
import {
  addressKey,
  enterTenant,
  type RequestContext,
  type Slots,
  UnprovenRequests,
} from "@/lib/http/request_context.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import type { MarkedRequest } from "@/lib/std/store_addresses.ts";
import { derivedKey } from "@/lib/std/sealed_text.ts";
import { accountKey, type Attempt, type Guess, type GuessLimits } from "./credential_memory.ts";
import type { Caller, Claims, Identify, Identity, Verdict } from "./store_credentials.ts";

/** Bodies up to this length are read for each admitted request, bytes. The number of longer ones is limited. */
const SHORT_BODY_BYTES = 64 * 1024;
const MAX_LONG_BODIES_PER_ADDRESS = 4;
const MAX_LONG_BODIES = 16;
/** For each address and account, the limits of guesses hear this often of accepted credentials, ms. */
const EXEMPT_REFRESH_MS = 10_000;

interface AdmissionOptions {
  readonly accepted: AcceptedIdentities;
  readonly guesses: GuessLimits;
  readonly identify: Identify;
  /** Whether all callers share keys of the gateway: then a response of S3 says nothing about a login. */
  readonly sharedKeys: boolean;
  /** Slots of requests whose credentials were accepted recently: of the role, and of each tenant. */
  readonly role: Slots;
  readonly tenants: Slots;
  /** Slots of all other requests. */
  readonly unproven: UnprovenRequests;
  /**
   * Checks that the store accepts a caller's signature, at the system level (`mapi`, no tenant) by the management API.
   *
   * @throws HttpError when it does not
   */
  readonly prove: (caller: Caller, protocol: Protocol) => Promise<void>;
  /** Records the first use of credentials in a while, and wrong ones; null: nothing does, or no login proves anything. */
  readonly logins: LoginRecorder | null;
}

/** The protocol of the store that a request uses. */
export type Protocol = "s3" | "mapi";

/** A token's credentials as one protocol uses them. */
interface Credentials {
  readonly digest: string;
  readonly account: string;
  readonly onVerdict: (verdict: Verdict) => void;
  /** Cached where it follows from the claims alone. */
  identity: Identity | null;
  /** When the limits of guesses last heard that an address uses them, ms since 1970. */
  exempt: { readonly address: string; readonly at: number } | null;
}

/**
 * Checks credentials before resources are granted. A token proves nothing, because each login form returns one; only a
 * response of the store does. A request of an identity that the store accepted within the last minute takes a slot of the
 * role and of its tenant. Any other takes one of a few slots per client address, is limited like password guesses, and its
 * body is read only after the store has accepted its signature.
 */
export class Admission {
  readonly #known: Readonly<Record<Protocol, WeakMap<Claims, Credentials>>> = {
    s3: new WeakMap(),
    mapi: new WeakMap(),
  };
  /** Slots of unproven requests with a long body. */
  readonly #longBodies = new UnprovenRequests(MAX_LONG_BODIES_PER_ADDRESS, MAX_LONG_BODIES);
  /** Pending checks by digest: uploads that start together share one. */
  readonly #proofs = new Map<string, Promise<void>>();

  constructor(private readonly options: AdmissionOptions) {
  }

  /**
   * Admits a request and returns its caller.
   *
   * @throws HttpError 503 when no slot is free, 429 after too many wrong passwords, 401 for rejected credentials
   */
  admit(context: RequestContext, claims: Claims, protocol: Protocol): Promise<Caller> {
    const credentials = this.#credentials(claims, protocol);
    return this.options.accepted.isProven(credentials.digest)
      ? this.#admitProven(context, claims, credentials, protocol)
      : this.#admitUnproven(context, claims, credentials, protocol);
  }

  async #admitProven(
    context: RequestContext,
    claims: Claims,
    credentials: Credentials,
    protocol: Protocol,
  ): Promise<Caller> {
    const { role, tenants, sharedKeys } = this.options;
    this.#exempt(credentials, addressKey(context.clientAddress));
    context.admitted = "proven";
    try {
      enterTenant(role, tenants, context, claims.tenant);
      return {
        ...await this.#identity(claims, credentials),
        signal: context.request.signal,
        onVerdict: sharedKeys && protocol === "s3" ? undefined : credentials.onVerdict,
        request: requestOf(context),
      };
    } catch (error) {
      cancelBody(context.request);
      throw error;
    }
  }

  async #admitUnproven(
    context: RequestContext,
    claims: Claims,
    credentials: Credentials,
    protocol: Protocol,
  ): Promise<Caller> {
    const { digest, account, onVerdict } = credentials;
    const { accepted, guesses, unproven, sharedKeys } = this.options;
    const address = addressKey(context.clientAddress);
    const { request } = context;
    context.admitted = "unproven";
    let attempt: Attempt | null = null;
    let isWrong = false;
    const recordLogin = (what: "accepted" | "failed", status: number) => {
      const { source, clientAddress: address, requestId, role = "gateway" } = context;
      // A page's login is recorded by its form.
      if (role === "web") return;
      const actor = { name: claims.sub, tenant: claims.tenant };
      const details = { by: "token", protocol };
      this.options.logins?.[what]({ source, actor, address, requestId, role, status, details });
    };
    const wrong = (status: number) => {
      attempt?.wrong();
      if (!isWrong) recordLogin("failed", status);
      isWrong = true;
    };
    try {
      const leave = await unproven.enter(context);
      context.hold(leave);
      // Started with the slot, so that an address never exceeds its number of attempts.
      attempt = accepted.isKnown(digest) ? null : this.#attempt({ address, account, digest, by: "gateway" });
      if (attempt) context.hold(attempt.end);
      let isAccepted = false;
      let isJudged = false;
      const caller: Caller = {
        ...await this.#identity(claims, credentials),
        signal: request.signal,
        request: requestOf(context),
        isUnproven: true,
        onVerdict: (verdict) => {
          onVerdict(verdict);
          if (isAccepted) return;
          // MAPI returns the same status for wrong credentials and missing rights: another request tells them apart.
          if (protocol === "mapi" && verdict === "denied" && !sharedKeys && !isJudged && !accepted.isKnown(digest)) {
            isJudged = true;
            return this.#prove(digest, caller, protocol).catch(() => {}).then(() => {
              if (!isAccepted) wrong(403);
            });
          }
          // The store has accepted these credentials at another request meanwhile, so what is missing is a right.
          const isRight = verdict === "accepted" || (verdict === "denied" && accepted.isKnown(digest));
          context.isAccepted ||= isRight;
          if (isRight && verdict === "denied") return;
          if (!isRight) return wrong(verdict === "refused" ? 401 : 403);
          isAccepted = true;
          if (attempt) attempt.right();
          else guesses.accepted({ address, account });
          if (attempt) recordLogin("accepted", 200);
          attempt?.end();
          this.#move(context, claims.tenant, leave);
        },
      };
      const prove = () => this.#prove(digest, caller, protocol);
      if (protocol === "mapi") {
        if (request.body && !isShort(context)) context.hold(await this.#longBodies.enter(context));
        // With shared keys, S3 says nothing about the account of the management API.
        if (!sharedKeys) context.prove = prove;
        return caller;
      }
      if (sharedKeys) {
        // The gateway checked the login itself, or is configured to admit every caller.
        caller.onVerdict?.("accepted");
        return { ...caller, onVerdict: undefined };
      }
      if (request.body) await prove();
      context.prove = prove;
      return { ...caller, prove };
    } catch (error) {
      if (error instanceof HttpError && error.status === 401) wrong(401);
      // Guesses that are no longer tried are attempts as well.
      else if (error instanceof HttpError && error.refusal?.startsWith("guesses_")) wrong(error.status);
      cancelBody(request);
      throw error;
    }
  }

  async #identity(claims: Claims, credentials: Credentials): Promise<Identity> {
    if (credentials.identity) return credentials.identity;
    const identity = this.options.identify(claims);
    return identity instanceof Promise ? await identity : credentials.identity = identity;
  }

  /** Says now and then that an address uses accepted credentials. */
  #exempt(credentials: Credentials, address: string): void {
    const now = this.options.accepted.now();
    const last = credentials.exempt;
    if (last?.address === address && now - last.at < EXEMPT_REFRESH_MS) return;
    credentials.exempt = { address, at: now };
    this.options.guesses.accepted({ address, account: credentials.account });
  }

  #attempt(guess: Guess): Attempt {
    const attempt = this.options.guesses.start(guess);
    if (!("limit" in attempt)) return attempt;
    const { limit, seconds } = attempt;
    const what = limit === "address" ? "from this address" : "for this account";
    throw tooManyRequests(`Too many wrong passwords ${what}, try again in ${seconds} s`, seconds, `guesses_${limit}`);
  }

  /** Moves a request with accepted credentials to a slot of its tenant. When none is free it keeps the one it has. */
  #move(context: RequestContext, tenant: string | null, leaveUnproven: () => void): void {
    const { role, tenants } = this.options;
    try {
      enterTenant(role, tenants, context, tenant);
      leaveUnproven();
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
    }
  }

  async #prove(digest: string, caller: Caller, protocol: Protocol): Promise<void> {
    const running = this.#proofs.get(digest);
    if (running) {
      await running;
      if (this.options.accepted.isProven(digest)) await caller.onVerdict?.("accepted");
      return;
    }
    // Not cancelled with the client that started it: other requests may wait for the same response.
    const proof = this.options.prove({ ...caller, signal: undefined }, protocol);
    this.#proofs.set(digest, proof);
    try {
      await proof;
    } finally {
      this.#proofs.delete(digest);
    }
  }

  #credentials(claims: Claims, protocol: Protocol): Credentials {
    let credentials = this.#known[protocol].get(claims);
    if (!credentials) {
      const { accepted, sharedKeys } = this.options;
      const login = accepted.digest({ username: claims.sub, password: claims.pwd, tenant: claims.tenant });
      const digest = sharedKeys && protocol === "mapi" ? `${login} of MAPI` : login;
      const onVerdict = (verdict: Verdict) => {
        if (verdict === "accepted") accepted.accept(digest);
        else if (verdict === "refused") accepted.reject(digest);
      };
      const account = accountKey(claims.tenant, claims.sub);
      this.#known[protocol].set(claims, credentials = { digest, account, onVerdict, identity: null, exempt: null });
    }
    return credentials;
  }
}

/** The data of a request that the store records. */
function requestOf({ requestId, clientAddress }: RequestContext): MarkedRequest {
  return { id: requestId, address: clientAddress };
}

function isShort(context: RequestContext): boolean {
  return Number(context.header("Content-Length") ?? Infinity) <= SHORT_BODY_BYTES;
}

/** Turns a bearer token into a caller of the store. */
export interface TokenCheck {
  readonly verify: VerifyToken;
  readonly admission: Admission;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Identifies the caller of an operation by the bearer token alone.
 *
 * @param beforeWrite checks a request that is no read, before it takes a slot
 */
export function bearerAuthentication(
  { verify, admission, now }: TokenCheck,
  protocol: Protocol,
  beforeWrite?: (context: RequestContext) => void,
): Authenticate<Caller> {
  return async function authenticate(context) {
    const claims = await verify(bearerToken(context.header("Authorization")), now() / 1000);
    context.caller = { username: claims.sub, tenant: claims.tenant };
    if (context.method !== "GET" && context.method !== "HEAD") beforeWrite?.(context);
    return await admission.admit(context, claims, protocol);
  };
}

/** After the store accepted an identity, its requests need no further proof for this long, ms. */
export const PROVEN_MS = 60_000;
/** For this long after that, the same credentials do not count as a guess, ms. */
export const KNOWN_MS = 600_000;
/** Identities that are cached. */
const MAX_IDENTITIES = 10_000;
/** The time of an acceptance is updated at most this often, ms. */
const ACCEPTED_REFRESH_MS = 1000;

/** A user name and password with the tenant they are meant for. */
interface LoginCredentials {
  readonly username: string;
  readonly password: string;
  /** Null: system level. */
  readonly tenant: string | null;
}

/**
 * The identities that the store accepted recently, in the memory of this process, by digest: credentials themselves are
 * not stored. Only accepted identities are stored, so invented credentials cannot evict others.
 */
export class AcceptedIdentities {
  readonly #acceptedAt = new CountedCache<string, number>("accepted_identities", { max: MAX_IDENTITIES });
  readonly #key = randomBytes(32);

  /** @param now ms since 1970 */
  constructor(readonly now: () => number) {
  }

  /** The digest of an identity: equal for equal credentials in this process, and of no use elsewhere. */
  digest({ username, password, tenant }: LoginCredentials): string {
    const text = JSON.stringify([tenant?.toLowerCase() ?? null, username, password]);
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }

  /** Whether the store accepted it within {@link PROVEN_MS}. */
  isProven(digest: string): boolean {
    return this.#age(digest) < PROVEN_MS;
  }

  /** Whether the store accepted it within {@link KNOWN_MS} and has not rejected it since. */
  isKnown(digest: string): boolean {
    return this.#age(digest) < KNOWN_MS;
  }

  /** Records that the store accepted an identity. */
  accept(digest: string): void {
    if (!(this.#age(digest) < ACCEPTED_REFRESH_MS)) this.#acceptedAt.set(digest, this.now());
  }

  /** Records that the store rejected an identity. */
  reject(digest: string): void {
    this.#acceptedAt.delete(digest);
  }

  #age(digest: string): number {
    const at = this.#acceptedAt.get(digest);
    return at === undefined ? Infinity : this.now() - at;
  }
}

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
type VerifyToken = (token: string, nowSeconds: number) => Promise<Claims>;

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
