import { headerText } from "@/lib/http/header_values.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { storagePath } from "@/lib/presentation/storage/storage_paths.ts";
import { browserScheme, requireSameOrigin } from "@/lib/results/browser_origin.ts";
import { type Credentials, failedLoginPath, type LoginForm, readLoginForm } from "@/lib/results/login_form.ts";
import { type LoginNote, loginNoteCookie } from "@/lib/results/login_note.ts";
import { accountName, type StorageAccount, typedAccount } from "@/lib/storage/storage_account.ts";
import { clearedLogins, storageCookie, type StorageCredentials } from "@/lib/storage/storage_cookie.ts";
import { checkStorageLogin, type LoginVerdict } from "@/lib/storage/storage_login.ts";
import type { StorageDeps } from "./deps.ts";
import { loginsOf, revokeLogins } from "./requested_login.ts";
import type { ResultsAnswer } from "./results_side.ts";

const UNSTORED = { "Cache-Control": "private, no-store" };
const SECONDS_PER_HOUR = 3600;
const WRONG = "401";

/** What both sides said of a form. */
interface Sides {
  /** Null in a site without campaigns. */
  readonly campaigns: ResultsAnswer | null;
  readonly storage: LoginVerdict;
  /** The account that was tried at the store. */
  readonly account: StorageAccount;
}

/**
 * POST /login: the form of the login page. It logs in to the campaigns and to the storage; one side is enough. A form
 * that both refuse leads back to the login page with the status, as one sent to the results role does.
 */
export function loginForm(deps: StorageDeps) {
  return async function loginForm(context: RequestContext): Promise<Response> {
    context.operation = "login_form";
    const { request } = context;
    // Read now: once a client has left, its request cannot be read any more.
    const scheme = browserScheme(request);
    const before = loginsOf(deps, request);
    const note = (note: LoginNote) => loginNoteCookie(scheme, note, deps.now());
    let form: LoginForm | null = null;
    /** Of a form of our own pages: another site must not choose the name on the login page. */
    let username: string | null = null;
    try {
      form = await readLoginForm(context);
      requireSameOrigin(request);
      username = form.username;
      const credentials = form.credentials();
      const { campaigns, storage, account } = await bothSides(deps, context, credentials);
      const isCampaigns = campaigns?.error === null;
      if (!storage.isAccepted) {
        if (isCampaigns) return redirect(form.next, campaigns.cookies);
        throw refusal(campaigns, storage);
      }
      const key = deps.key();
      if (key === null) throw new HttpError(503, "logins are not possible at the moment");
      const issuedAt = deps.now() / 1000;
      const expiresAt = issuedAt + deps.sessionHours * SECONDS_PER_HOUR;
      const login = { ...account, password: credentials.password, issuedAt, expiresAt };
      const cookie = storageCookie(scheme, login, before, key);
      if (cookie === null) throw new HttpError(422, "User name and password are too long for a session");
      context.caller = { username: account.user, tenant: account.tenant };
      if (isCampaigns) return redirect(form.next, [...campaigns.cookies, cookie]);
      const name = accountName(account);
      const path = /^\/storage(?:[/?]|$)/.test(form.next)
        ? form.next
        : storagePath(name, { isOnlySide: campaigns !== null });
      return redirect(path, [cookie, note({ kind: "session", endsAt: expiresAt * 1000 })]);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const path = failedLoginPath(error, form?.next ?? "/");
      if (username === null) return redirect(path, []);
      if (error instanceof Refused && error.cookies.length > 0) return redirect(path, error.cookies);
      const wait = error instanceof Refused ? error.retryAfter : null;
      const retryAt = wait === null ? null : deps.now() + wait * 1000;
      return redirect(path, [note({ kind: "failed", username, retryAt })]);
    }
  };
}

/** POST /logout: ends the session of the campaigns and drops all logins to the storage. */
export function logoutForm(deps: StorageDeps) {
  return async function logoutForm(context: RequestContext): Promise<Response> {
    context.operation = "logout_form";
    const { request } = context;
    requireSameOrigin(request);
    // Read now: once a client has left, its request cannot be read any more.
    const scheme = browserScheme(request);
    const cleared = clearedLogins(request);
    const logins = loginsOf(deps, request);
    const [campaigns] = await Promise.all([deps.results?.logOut(context), revokeLogins(deps, logins)]);
    const note = loginNoteCookie(scheme, { kind: "loggedOut" }, deps.now());
    return redirect("/login", [...cleared, ...(campaigns?.cookies ?? []), note]);
  };
}

/**
 * Tries a login on both sides. A name with a tenant means the same account on both, and both attempts are one guess. A
 * name without one is an account of the campaigns' tenant where those accept it, else one of the system level.
 */
async function bothSides(deps: StorageDeps, context: RequestContext, credentials: Credentials): Promise<Sides> {
  const { results, campaignTenant } = deps;
  const typed = typedAccount(credentials.username);
  if (typed.tenant !== null || results === null) {
    const [campaigns, storage] = await Promise.all([
      results?.logIn(context, credentials) ?? null,
      storageSide(deps, context, { ...typed, password: credentials.password }),
    ]);
    return { campaigns, storage, account: typed };
  }
  const campaigns = await results.logIn(context, credentials);
  const account = campaigns.error === null && campaignTenant !== null
    ? { tenant: campaignTenant, user: typed.user }
    : typed;
  if (campaigns.error === "429") {
    return { campaigns, storage: { isAccepted: false, status: 429, retryAfter: null }, account };
  }
  return {
    campaigns,
    storage: await storageSide(deps, context, { ...account, password: credentials.password }),
    account,
  };
}

async function storageSide(
  { gateway }: StorageDeps,
  context: RequestContext,
  credentials: StorageCredentials,
): Promise<LoginVerdict> {
  try {
    return await checkStorageLogin(gateway, credentials, context);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { isAccepted: false, status: error.status, retryAfter: null };
  }
}

/** A form that no side accepts. */
class Refused extends HttpError {
  readonly cookies: readonly string[];
  readonly retryAfter: number | null;

  constructor(status: number, cookies: readonly string[], retryAfter: number | null) {
    super(status, "the login was refused");
    this.cookies = cookies;
    this.retryAfter = retryAfter;
  }
}

/** Where one side calls the password wrong and the other could not check it, the login is not known to be wrong. */
function refusal(campaigns: ResultsAnswer | null, storage: LoginVerdict & { readonly isAccepted: false }): Refused {
  if (campaigns?.error && (campaigns.error !== WRONG || storage.status === Number(WRONG))) {
    return new Refused(Number(campaigns.error), campaigns.cookies, null);
  }
  return new Refused(storage.status, [], storage.retryAfter);
}

/** 303: the browser requests the path with GET. */
function redirect(path: string, cookies: readonly string[]): Response {
  const headers = new Headers({ ...UNSTORED, Location: headerText(path) });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
