import type { AuditDetails } from "@/lib/http/audit_event.ts";
import { parseForm, readBytes } from "@/lib/http/body.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { isStoragePath, STORAGE_PATH, storagePath } from "@/lib/pages/storage/storage_paths.ts";
import { browserScheme, requireSameOrigin, type Scheme } from "@/lib/auth/session_token.ts";
import { type Credentials, handleLoginForm, loginNoteCookie, RefusedLogin } from "@/lib/results/results_login.ts";
import { notedUnavailableArea, sessionNoteCookie, unavailableAreaCookie } from "@/lib/auth/storage_cookie.ts";
import {
  accountName,
  clearedLogin,
  clearedLogins,
  isSameAccount,
  type StorageAccount,
  storageCookie,
  type StorageCredentials,
  type StorageLogin,
  typedAccount,
} from "@/lib/auth/storage_cookie.ts";
import { checkStorageLogin, type LoginVerdict } from "@/lib/auth/storage_gateway.ts";
import { loginsOf, namedLogin, type StorageDeps } from "./logins.ts";
import type { ResultsAnswer } from "@/lib/results/form_login.ts";

const SECONDS_PER_HOUR = 3600;
const WRONG = "401";
const TOO_MANY = 429;
/** Room for the longest name of an account, escaped, bytes. */
const MAX_LOGOUT_BYTES = 16 * 1024;

/** How both sides responded to a form. */
interface Sides {
  /** Null in a site without campaigns. */
  readonly campaigns: ResultsAnswer | null;
  readonly storage: (LoginVerdict & { readonly isAccepted: true }) | RefusedStorage;
}

/** A storage that refused a login; `lacksTenant`: it was not tried, since the tenant of the name is not known. */
type RefusedStorage = LoginVerdict & { readonly isAccepted: false; readonly lacksTenant?: true };

/** A login to the storage as a cookie. */
interface SealedLogin {
  readonly isAccepted: true;
  readonly account: StorageAccount;
  readonly cookie: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/**
 * POST /login: the form of the login page. It logs in to the campaigns and to the storage; one side is enough. A form
 * that both refuse leads back to the login page with the status, as one sent to the results role does.
 */
export function loginForm(deps: StorageDeps) {
  return async function loginForm(context: RequestContext): Promise<Response> {
    context.operation = "login_form";
    const { request } = context;
    // Read now: once a client has left, its request can no longer be read.
    const before = loginsOf(deps, request);
    const reopened = notedUnavailableArea(request) === null
      ? []
      : [unavailableAreaCookie(browserScheme(request), null)];
    return await handleLoginForm(context, deps.now, async ({ next, credentials, scheme, note }) => {
      const { campaigns, storage } = await bothSides(deps, context, credentials);
      const isCampaigns = campaigns?.error === null;
      const login = storage.isAccepted
        ? sealedLogin(deps, scheme, { ...storage.account, password: credentials.password }, before)
        : storage;
      if (!login.isAccepted) {
        if (isCampaigns) {
          const reason = login.lacksTenant ? "tenant" : login.status;
          const closed = unavailableAreaCookie(scheme, { side: "storage", reason, isShown: false });
          return seeOther(next, [...campaigns.cookies, closed]);
        }
        const refused = rejection(campaigns, login);
        const typed = typedAccount(credentials.username);
        const isFailure = refused.status === Number(WRONG) || refused.status === TOO_MANY;
        if (typed && isFailure) deps.logins?.failed(loginEvent(context, typed, refused.status, { by: "form" }));
        throw refused;
      }
      const { account, cookie, expiresAt } = login;
      const opened = { by: "form", storage: true, campaigns: isCampaigns };
      deps.logins?.accepted(loginEvent(context, account, 200, opened));
      context.caller = { username: account.user, tenant: account.tenant };
      const others = before.filter((one) => !isSameAccount(one, account));
      const sessions = sessionNoteCookie(scheme, [{ ...account, expiresAt }, ...others], deps.keys(), deps.now());
      if (isCampaigns) return seeOther(next, [...campaigns.cookies, cookie, sessions, ...reopened]);
      const path = isStoragePath(next) ? next : storagePath(accountName(account));
      const closed = campaigns === null
        ? reopened
        : [unavailableAreaCookie(scheme, { side: "campaigns", reason: Number(campaigns.error), isShown: false })];
      return seeOther(path, [cookie, sessions, note({ kind: "session", endsAt: expiresAt * 1000 }), ...closed]);
    });
  };
}

/**
 * POST /logout: ends the session of the campaigns and drops all logins to the storage; with the name of an account in
 * its form, that login to the storage alone. The browser is logged out in any case, of everything where the form cannot
 * be read; where the results role did not end the session, the login page says so.
 */
export function logoutForm(deps: StorageDeps) {
  return async function logoutForm(context: RequestContext): Promise<Response> {
    context.operation = "logout_form";
    const { request } = context;
    requireSameOrigin(request);
    // Read now: once a client has left, its request can no longer be read.
    const scheme = browserScheme(request);
    const cleared = [
      ...clearedLogins(request),
      sessionNoteCookie(scheme, [], [], deps.now()),
      ...(notedUnavailableArea(request) === null ? [] : [unavailableAreaCookie(scheme, null)]),
    ];
    const logins = loginsOf(deps, request);
    const named = await accountToEnd(context);
    if (named !== undefined) {
      const login = namedLogin(logins, named);
      if (login === null) return seeOther(STORAGE_PATH);
      await deps.revoked.add([login]);
      await recordLogout(deps, context, [login]);
      const sessions = sessionNoteCookie(scheme, logins.filter((one) => one !== login), deps.keys(), deps.now());
      return seeOther(STORAGE_PATH, [clearedLogin(request, login), sessions]);
    }
    const [campaigns] = await Promise.all([deps.results?.logOut(context), deps.revoked.add(logins)]);
    await recordLogout(deps, context, logins);
    const cookies = [...cleared, ...(campaigns?.cookies ?? [])];
    // The cookies are gone, but a copy of the campaigns' one is still valid.
    if (campaigns && campaigns.error !== null) return seeOther("/login?error=logout", cookies);
    return seeOther("/login", [...cookies, loginNoteCookie(scheme, { kind: "loggedOut" }, deps.now())]);
  };
}

/** A login or logout of an account, for the audit trail. */
function loginEvent(
  { source, clientAddress: address, requestId }: RequestContext,
  { user: name, tenant }: StorageAccount,
  status: number,
  details: AuditDetails,
) {
  return { source, actor: { name, tenant }, address, requestId, role: "web", status, details } as const;
}

/** One record for each login that ended. */
async function recordLogout({ logins }: StorageDeps, context: RequestContext, ended: readonly StorageAccount[]) {
  for (const account of ended) {
    await logins?.loggedOut(loginEvent(context, account, 303, { by: "form", storage: true }));
  }
}

/** The account that a logout names; undefined for a form that names none or cannot be read. */
async function accountToEnd(context: RequestContext): Promise<string | undefined> {
  const type = context.header("Content-Type") ?? "";
  try {
    return (await parseForm(await readBytes(context.request, MAX_LOGOUT_BYTES), type)).get("account");
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return undefined;
  }
}

/**
 * Tries a login on both sides. A name with a tenant means the same account on both, and both attempts are one guess. A
 * name without one is an account of the campaigns' tenant where those accept it, else one of the system level, which counts
 * as a second guess. In a store without tenants it is the account of that name.
 */
async function bothSides(deps: StorageDeps, context: RequestContext, credentials: Credentials): Promise<Sides> {
  const { results, campaignTenant } = deps;
  const { password } = credentials;
  const typed = typedAccount(credentials.username);
  if (typed === null || typed.tenant !== null || results === null) {
    const [campaigns, storage] = await Promise.all([
      results?.logIn(context, credentials) ?? null,
      typed === null
        ? refused(results === null ? 422 : Number(WRONG))
        : storageSide(deps, context, { ...typed, password }),
    ]);
    return { campaigns, storage };
  }
  const [campaigns, hasTenants] = await Promise.all([
    results.logIn(context, credentials),
    storeHasTenants(deps, context),
  ]);
  if (campaigns.error === "429") return { campaigns, storage: refused(429) };
  if (hasTenants instanceof HttpError) return { campaigns, storage: refused(hasTenants.status) };
  const isOfCampaigns = hasTenants && campaigns.error === null;
  // An account of a tenant that is not known here is not tried at the system level: it would be a wrong guess.
  if (isOfCampaigns && campaignTenant === null) {
    return { campaigns, storage: { ...refused(Number(WRONG)), lacksTenant: true } };
  }
  const account = { tenant: isOfCampaigns ? campaignTenant : null, user: typed.user };
  return { campaigns, storage: await storageSide(deps, context, { ...account, password }) };
}

async function storeHasTenants({ gateway }: StorageDeps, context: RequestContext): Promise<boolean | HttpError> {
  try {
    return (await gateway.storeKind(context)).hasTenants;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error;
  }
}

async function storageSide(
  { gateway }: StorageDeps,
  context: RequestContext,
  credentials: StorageCredentials,
): Promise<Sides["storage"]> {
  try {
    return await checkStorageLogin(gateway, credentials, context);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return refused(error.status);
  }
}

/** The cookie of a login that the store accepts. One that no cookie can hold is a storage that stays closed. */
function sealedLogin(
  deps: StorageDeps,
  scheme: Scheme,
  { tenant, user, password }: StorageCredentials,
  before: readonly StorageLogin[],
): SealedLogin | RefusedStorage {
  const [key] = deps.keys();
  if (!key) return refused(503);
  const issuedAt = deps.now() / 1000;
  const expiresAt = issuedAt + deps.sessionHours * SECONDS_PER_HOUR;
  const cookie = storageCookie(scheme, { tenant, user, password, issuedAt, expiresAt }, before, key);
  return cookie === null ? refused(422) : { isAccepted: true, account: { tenant, user }, cookie, expiresAt };
}

function refused(status: number): RefusedStorage {
  return { isAccepted: false, status, retryAfter: null };
}

/** Where one side rejects the password and the other could not check it, the error is that of the other, not 401. */
function rejection(campaigns: ResultsAnswer | null, storage: RefusedStorage): RefusedLogin {
  const detail = "the login was refused";
  if (campaigns?.error && (campaigns.error !== WRONG || storage.status === Number(WRONG))) {
    return new RefusedLogin(Number(campaigns.error), detail, null, { cookies: campaigns.cookies });
  }
  return new RefusedLogin(storage.status, detail, storage.retryAfter);
}
