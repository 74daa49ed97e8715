import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import {
  addressKey,
  enterTenant,
  type RequestContext,
  type Slots,
  UnprovenRequests,
} from "@/lib/http/request_context.ts";
import { HttpError, tooManyRequests } from "@/lib/http/errors.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import type { MarkedRequest } from "@/lib/std/request_mark.ts";
import {
  type AcceptedIdentities,
  accountKey,
  type Attempt,
  type Guess,
  type GuessLimits,
} from "./credential_memory.ts";
import type { Caller, Identify, Verdict } from "./store_credentials.ts";
import type { Claims } from "./token.ts";

/** Bodies up to this length are read for each admitted request, bytes. The number of longer ones is limited. */
const SHORT_BODY_BYTES = 64 * 1024;
const MAX_LONG_BODIES_PER_ADDRESS = 4;
const MAX_LONG_BODIES = 16;

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
    { account, onVerdict }: Credentials,
    protocol: Protocol,
  ): Promise<Caller> {
    const { role, tenants, identify, sharedKeys, guesses } = this.options;
    guesses.accepted({ address: addressKey(context.clientAddress), account });
    context.admitted = "proven";
    try {
      enterTenant(role, tenants, context, claims.tenant);
      return {
        ...await identify(claims),
        signal: context.request.signal,
        onVerdict: sharedKeys && protocol === "s3" ? undefined : onVerdict,
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
    { digest, account, onVerdict }: Credentials,
    protocol: Protocol,
  ): Promise<Caller> {
    const { accepted, guesses, unproven, identify, sharedKeys } = this.options;
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
        ...await identify(claims),
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
      this.#known[protocol].set(claims, credentials = { digest, account, onVerdict });
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
