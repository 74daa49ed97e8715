import { accountKey, type Blocked, type GuessLimits } from "@/lib/auth/credential_memory.ts";
import type { AcceptedIdentities } from "@/lib/auth/admission.ts";
import { type RequestLog, UNCACHED, UNSTORED } from "@/lib/http/app.ts";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import { addressKey, type RequestContext, UnprovenRequests } from "@/lib/http/request_context.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import { HttpError } from "@/lib/http/errors.ts";
import {
  browserScheme,
  requireSameOrigin,
  type Scheme,
  sealSession,
  sessionCookie,
  type SessionKeys,
} from "@/lib/auth/session_token.ts";
import type { ResultsStore } from "@/lib/results/file_response.ts";
import {
  type Credentials,
  handleLoginForm,
  isUrlencoded,
  jsonCredentials,
  type KeyDerivation,
  loginKeys,
  RefusedLogin,
  storeAcceptsKeys,
  withoutTenant,
} from "@/lib/results/results_login.ts";
import type { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { Sessions } from "@/lib/results/sessions.ts";
import { resultsError } from "@/lib/results/results_service.ts";
import { cleanMessage, S3Failure } from "@/lib/s3/s3_errors.ts";

/** The dependencies of the results role. */
export interface ResultsDeps {
  readonly store: ResultsStore;
  /** Served namespaces, one at least; logins are checked under the first. */
  readonly namespaces: readonly string[];
  readonly keyDerivation: KeyDerivation;
  /** The tenant whose `tenant/` in front of a user name is dropped; null: none. */
  readonly loginTenant: string | null;
  readonly sessionKeys: SessionKeys;
  readonly sessionHours: number;
  /** Sessions that ended before their time. */
  readonly revoked: RevokedSessions;
  /** The session cookie's name before any prefix, and what its content is bound to. */
  readonly cookieStem: string;
  /** How many proxies in front of this role are ours; the pass-through is one. */
  readonly trustedHops: number;
  /** Shared with the gateway where it is in the same process. */
  readonly guesses: GuessLimits;
  readonly accepted: AcceptedIdentities;
  /** Records logins and logouts; null or absent: nothing does. */
  readonly logins?: LoginRecorder | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** A path of the role: its name in the log, the methods it knows, its handler. */
export interface ResultsRoute {
  readonly operation: string;
  readonly methods: readonly string[];
  readonly handler: (context: RequestContext) => Response | Promise<Response>;
}

const SECONDS_PER_HOUR = 3600;
/** Logins that the store checks at once: from one address, and in all. */
export const MAX_CHECKS_PER_ADDRESS = 4;
const MAX_CHECKS = 32;
/** Used as the tenant if the role has a separate store: logins there say nothing about the gateway's store. */
const OWN_STORE = "results/";

/** A login that the store has confirmed. */
interface Login {
  readonly token: string;
  /** ms since 1970 */
  readonly endsAt: number;
}

/**
 * POST /results/_login. A JSON body is answered by status, a page's form by a redirect: to its `next`, or back to the
 * login page with the status as `error`. The redirects of a form leave a note for the login page.
 */
export function loginRoute(deps: ResultsDeps, sessions: Sessions): ResultsRoute {
  const atStore = new UnprovenRequests(MAX_CHECKS_PER_ADDRESS, MAX_CHECKS);
  const logIn = async (context: RequestContext, credentials: Credentials): Promise<Login> => {
    const username = withoutTenant(credentials.username, deps.loginTenant);
    if (username === "") throw unusable("username", "Nothing is left of the name without the tenant");
    const record = (what: "accepted" | "failed", status: number) => {
      const actor = { name: username, tenant: deps.store.tenant ?? deps.loginTenant };
      const { source, clientAddress: address, requestId } = context;
      const details = { by: "form", campaigns: what === "accepted" };
      deps.logins?.[what]({ source, actor, address, requestId, role: "results", status, details });
    };
    const login = await recordedLogin(record, async () => {
      const leave = await atStore.enter(context).catch(() => {
        throw resultsError(429, "too many logins at once, try again in a moment", { headers: { "Retry-After": "1" } });
      });
      try {
        const typed = { username, password: credentials.password };
        return await limitGuesses(
          deps,
          context,
          typed,
          () =>
            sealedSession(deps, username, typed.password).catch((error) => {
              warnOfStore(deps, context, error);
              throw error;
            }),
        );
      } finally {
        leave();
      }
    });
    context.caller = { username, tenant: deps.store.tenant };
    sessions.confirm(login.token);
    return login;
  };
  return {
    operation: "results_login",
    methods: ["POST"],
    handler: (context) =>
      isUrlencoded(context.request.headers) ? answerForm(deps, context, logIn) : answerJson(deps, context, logIn),
  };
}

/** Names the settings that may be wrong where the store responds neither yes nor no to the keys of a login. */
function warnOfStore({ log, keyDerivation }: ResultsDeps, { requestId }: RequestContext, error: unknown): void {
  const cause = error instanceof HttpError ? error.cause : null;
  if (!(cause instanceof S3Failure)) return;
  const response = cleanMessage(`${cause.storeStatus} ${cause.code ?? ""}`);
  const settings = `RESULTS_S3_ENDPOINT, RESULTS_S3_BUCKET and RESULTS_KEY_DERIVATION (${keyDerivation})`;
  const message = `the results store responded ${response} to the keys of a login: look at ${settings}`;
  log.write({ level: "warn", request_id: requestId, message });
}

/** Records how a login ends, where it is known whether the credentials are right. */
async function recordedLogin(
  record: (what: "accepted" | "failed", status: number) => void,
  logIn: () => Promise<Login>,
): Promise<Login> {
  try {
    const login = await logIn();
    record("accepted", 200);
    return login;
  } catch (error) {
    if (error instanceof RefusedLogin || (error instanceof HttpError && error.status === 401)) {
      record("failed", error.status);
    }
    throw error;
  }
}

/**
 * The login that `check` returns for credentials; it returns null when they are wrong. They are not checked once their
 * address or account has guessed too often.
 *
 * @throws HttpError 429, 401
 */
async function limitGuesses(
  { guesses, accepted, store }: ResultsDeps,
  context: RequestContext,
  credentials: { readonly username: string; readonly password: string },
  check: () => Promise<Login | null>,
): Promise<Login> {
  const tenant = store.tenant ?? OWN_STORE;
  const digest = accepted.digest({ ...credentials, tenant });
  const account = accountKey(tenant, credentials.username);
  const address = addressKey(context.clientAddress);
  const attempt = accepted.isKnown(digest) ? null : guesses.start({ address, account, digest, by: "results" });
  if (attempt && "limit" in attempt) {
    const blocked = guessesBlocked(attempt);
    // A form is redirected instead of an error.
    context.refusal = blocked.refusal;
    throw blocked;
  }
  try {
    const login = await check();
    if (login === null) {
      attempt?.wrong();
      accepted.reject(digest);
      throw resultsError(401, "wrong user name or password");
    }
    if (attempt) attempt.right();
    else guesses.accepted({ address, account });
    accepted.accept(digest);
    return login;
  } finally {
    attempt?.end();
  }
}

type LogIn = (context: RequestContext, credentials: Credentials) => Promise<Login>;

async function answerJson(deps: ResultsDeps, context: RequestContext, logIn: LogIn): Promise<Response> {
  // Read now: once a client has left, its request can no longer be read.
  const scheme = browserScheme(context.request);
  requireSameOrigin(context.request);
  const login = await logIn(context, await jsonCredentials(context));
  return new Response(null, { status: 204, headers: { ...UNSTORED, "Set-Cookie": cookieOf(deps, scheme, login) } });
}

function answerForm(deps: ResultsDeps, context: RequestContext, logIn: LogIn): Promise<Response> {
  return handleLoginForm(context, deps.now, async ({ next, credentials, scheme, note }) => {
    const login = await logIn(context, credentials);
    return seeOther(next, [cookieOf(deps, scheme, login), note({ kind: "session", endsAt: login.endsAt })]);
  });
}

function cookieOf({ cookieStem, sessionHours }: ResultsDeps, scheme: Scheme, { token }: Login): string {
  return sessionCookie(scheme, cookieStem, token, sessionHours * SECONDS_PER_HOUR);
}

/** A session once the store has confirmed the credentials, null when it rejected them. */
async function sealedSession(deps: ResultsDeps, user: string, password: string): Promise<Login | null> {
  const { store, namespaces, keyDerivation, sessionKeys, sessionHours, cookieStem, now } = deps;
  const keys = loginKeys(keyDerivation, user, password);
  if (keys === null) return null;
  const [key] = sessionKeys();
  if (!key) throw resultsError(503, "logins are not possible at the moment, the session key cannot be read");
  const issuedAt = now() / 1000;
  const expiresAt = issuedAt + sessionHours * SECONDS_PER_HOUR;
  const token = sealSession({ user, keys, expiresAt, issuedAt }, key, cookieStem);
  if (token === null) throw unusable("password", "User name and password are too long for a session");
  return await storeAcceptsKeys(store, namespaces[0], user, keys) ? { token, endsAt: expiresAt * 1000 } : null;
}

const TOO_MANY: Readonly<Record<Blocked["limit"], (seconds: number) => string>> = {
  address: (seconds) => `too many wrong logins from this address, try again in ${seconds} s`,
  account: (seconds) => `too many wrong logins under this name, try again in ${seconds} s`,
};

/** 429 after too many wrong passwords. The login page names its wait; other 429s are not about attempts. */
function guessesBlocked({ limit, seconds }: Blocked): RefusedLogin {
  return new RefusedLogin(429, TOO_MANY[limit](seconds), seconds, {
    headers: { ...UNCACHED, "Retry-After": String(seconds) },
    refusal: `guesses_${limit}`,
  });
}

/** 422 for a field that fits its schema but cannot be used; its value is not repeated. */
function unusable(field: string, msg: string): HttpError {
  return resultsError(422, [{ type: "value_error", loc: ["body", field], msg }]);
}
