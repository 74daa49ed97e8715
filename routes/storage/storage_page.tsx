import type { ComponentChildren } from "preact";
import { StoragePlaces, StorageSection } from "@/components/storage/storage_frame.tsx";
import LoginNotice from "@/islands/login_notice.tsx";
import StorageTasks from "@/islands/storage_tasks.tsx";
import { HttpError } from "@/lib/http/errors.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { closedSideSentence } from "@/lib/pages/login_sentences.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { STORAGE_PATH, storagePath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { policySource, storagePolicy } from "@/lib/site/policies.ts";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { notedClosedSide, notedSessions, rememberShown } from "@/lib/auth/login_notes.ts";
import { accountName, clearedLogin, type StorageLogin } from "@/lib/auth/storage_cookie.ts";
import { addressOf, Shell } from "@/routes/frame/shell.tsx";
import { loginsOf, namedLogin, type StorageDeps } from "./deps.ts";

/** The dependencies of every storage page. */
export interface StoragePageDeps extends StorageDeps {
  readonly site: SiteDeps;
}

/** A storage page for one login. */
export interface StorageView {
  readonly title: string;
  readonly body: ComponentChildren;
  /** Notices above the page. */
  readonly notices?: ComponentChildren;
  readonly status?: number;
}

/** A request for a page: its query, and the login that it names. */
export interface StorageVisit {
  readonly context: RequestContext;
  readonly query: URLSearchParams;
  readonly login: StorageLogin;
  /** The login's name in addresses. */
  readonly account: string;
  /** The names of all logins of the browser, in an order that stays. */
  readonly accounts: readonly string[];
  /**
   * Reads JSON of the gateway for the login.
   *
   * @param path below `/api/v1`, with its query
   * @throws LoginEnded, and as {@linkcode StorageGateway.read}
   */
  read<Json>(path: string): Promise<GatewayRead<Json>>;
}

/** The gateway's response to a page. */
interface GatewayRead<Json> {
  readonly status: number;
  readonly json: unknown;
  /** The JSON of status 200; null for any other. */
  readonly found: Json | null;
}

/** Thrown where the store no longer accepts a login. */
export class LoginEnded extends Error {
  override readonly name = "LoginEnded";
}

/** Thrown where a form leads to another page: its path. */
export class SeeOther extends Error {
  override readonly name = "SeeOther";

  constructor(readonly path: string) {
    super("the form leads to another page");
  }
}

/**
 * A page of the storage: for the login that its address names, else the newest. Without a login it is the frame alone
 * with a link to the login, since the first request from a link in a mail carries no cookie.
 */
export function storagePage(deps: StoragePageDeps, view: (visit: StorageVisit) => Promise<StorageView>) {
  return async function storagePage(context: RequestContext): Promise<Response> {
    const { request } = context;
    const query = new URLSearchParams(context.target.query);
    const named = query.get("account") || null;
    const logins = loginsOf(deps, request);
    const login = namedLogin(logins, named);
    const ended = endedSessions(deps, context, logins);
    const noted = notedClosedSide(request);
    if (login === null) {
      const view = noLogin(deps, context, { named, logins, ended, closed: noted });
      return rememberShown(await respond(deps, context, null, view), request, noted);
    }
    context.caller = { username: login.user, tenant: login.tenant };
    try {
      const accounts = logins.map(accountName).sort();
      const read = async <Json,>(path: string): Promise<GatewayRead<Json>> => {
        const { status, json } = await deps.gateway.read<Json>(path, login, context);
        if (status === 401) throw new LoginEnded();
        return { status, json, found: status === 200 ? json : null };
      };
      const visit = { context, query, login, account: accountName(login), accounts, read };
      const shown = await shownView(() => view(visit));
      // The list of buckets is where one account is exchanged for another.
      const isStart = context.target.path === STORAGE_PATH;
      const notices = (
        <>
          {noted?.isShown === false && (
            <p class="banner" role="status">
              {closedSideSentence(noted, accountName(logins[0]), deps.campaignTenant)}
            </p>
          )}
          {isStart && endedBanners(deps, context, ended)}
        </>
      );
      return rememberShown(await respond(deps, context, login, { ...shown, notices }), request, noted);
    } catch (error) {
      if (error instanceof SeeOther) return seeOther(error.path);
      if (!(error instanceof LoginEnded)) throw error;
      const response = await respond(deps, context, null, refused(context));
      response.headers.append("Set-Cookie", clearedLogin(request, login));
      return response;
    }
  };
}

/** 400: the page for an address that lacks a parameter, whose name is code that addresses hold. */
export function incompleteView({ account, accounts }: StorageVisit, parameter: "bucket" | "key"): StorageView {
  return {
    title: STORAGE_LABELS.storage,
    status: 400,
    body: (
      <StorageSection account={account} accounts={accounts} steps="none" title={STORAGE_LABELS.storage}>
        <p class="banner bad" role="alert">
          {STORAGE_SENTENCES.incomplete[parameter]} <a href={storagePath(account)}>{STORAGE_LABELS.toBuckets}</a>
        </p>
      </StorageSection>
    ),
  };
}

/** The status of a page without what the gateway's response of this status should have held; undefined: 200. */
export function statusWithout(status: number): number | undefined {
  return status === 404 || status === 429 || status >= 500 ? status : undefined;
}

async function respond(
  deps: StoragePageDeps,
  context: RequestContext,
  login: StorageLogin | null,
  { title, body, notices, status }: StorageView,
): Promise<Response> {
  const { site, gateway } = deps;
  const endpoint = login && await gateway.publicEndpoint(login, context);
  // A login that the store did not accept would be counted as a guess by its management API.
  const hasTrail = login !== null && status === undefined && await deps.facts.mayReadTrail(login, context);
  const user = login ? accountName(login) : userOf(await site.session(context.request));
  const page = {
    title,
    body: (
      <Shell user={user} current="storage" hasStorage here={context.target}>
        {notices}
        {login && <StoragePlaces account={accountName(login)} {...placeOf(context)} hasTrail={hasTrail} />}
        {body}
        {login && <StorageTasks account={accountName(login)} />}
      </Shell>
    ),
  };
  const policy = storagePolicy(endpoint === null ? null : policySource(endpoint));
  return pageResponse(context.request, page, { assets: site.assets, resultsUrl: "", status, policy: () => policy });
}

/** The path of a page, and the folder or the object that it is of. */
function placeOf({ target: { path, query } }: RequestContext) {
  const parameters = new URLSearchParams(query);
  const bucket = parameters.get("bucket") ?? "";
  const prefix = parameters.get("key") ?? parameters.get("prefix") ?? "";
  return { here: path, subject: bucket === "" || !path.startsWith(`${STORAGE_PATH}/`) ? null : { bucket, prefix } };
}

/** Where the gateway does not respond, that is what the page shows. */
async function shownView(view: () => Promise<StorageView>): Promise<StorageView> {
  try {
    return await view();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const { status } = error;
    return {
      title: STORAGE_LABELS.storage,
      status,
      body: placeholderPage(<p class="banner bad" role="alert">{storageProblem(status, "folder")}</p>),
    };
  }
}

/** The sessions that this browser no longer has at the storage. */
function endedSessions(
  { keys }: StorageDeps,
  { request }: RequestContext,
  logins: readonly StorageLogin[],
): readonly EndedSession[] {
  const names = new Set(logins.map((login) => accountName(login).toLowerCase()));
  return notedSessions(request, keys()).filter(({ account }) => !names.has(account.toLowerCase()));
}

type EndedSession = ReturnType<typeof notedSessions>[number];

function endedBanners(deps: StoragePageDeps, context: RequestContext, sessions: readonly EndedSession[]) {
  const now = deps.now();
  return sessions.map(({ account, endsAt }) => (
    <div class="banner warn" role="status" key={account}>
      {endsAt * 1000 > now
        ? STORAGE_SENTENCES.sessionOver(account)
        : <LoginNotice kind="ended" at={endsAt * 1000} account={account} renderedAt={now} />}{" "}
      <a href={loginPath(addressOf(context.target))}>{LABELS.logIn}</a>
    </div>
  ));
}

/** The logins of a browser, none of which is the one that an address names. */
interface OtherLogins {
  readonly named: string | null;
  readonly logins: readonly StorageLogin[];
  readonly ended: readonly EndedSession[];
  /** The side that the last login did not open; null where it opened both, or there was none. */
  readonly closed: ReturnType<typeof notedClosedSide>;
}

function noLogin(
  deps: StoragePageDeps,
  context: RequestContext,
  { named, logins, ended, closed }: OtherLogins,
): StorageView {
  const meant = named === null ? ended : ended.filter(({ account }) => account.toLowerCase() === named.toLowerCase());
  return {
    title: STORAGE_LABELS.storage,
    body: placeholderPage(
      meant.length > 0 ? endedBanners(deps, context, meant) : (
        <p class="empty">
          {named !== null && logins.length > 0 && <>{STORAGE_SENTENCES.noAccount(named)}{" "}</>}
          {closed?.side === "storage" && <>{closedSideSentence(closed, null, deps.campaignTenant)}{" "}</>}
          <a href={loginPath(addressOf(context.target))}>{LABELS.logIn}</a> {STORAGE_SENTENCES.logIn}
        </p>
      ),
    ),
  };
}

function refused(context: RequestContext): StorageView {
  return {
    title: STORAGE_LABELS.storage,
    body: placeholderPage(
      <p class="banner warn" role="alert">
        {STORAGE_SENTENCES.ended} <a href={loginPath(addressOf(context.target))}>{LABELS.logIn}</a>
      </p>,
    ),
  };
}

/** The body of a page in place of one that cannot be shown: why, below the name of the storage. */
function placeholderPage(why: ComponentChildren) {
  return (
    <div class="storage-home">
      <div class="head">
        <h1>{STORAGE_LABELS.storage}</h1>
      </div>
      {why}
    </div>
  );
}
