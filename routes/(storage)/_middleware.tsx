import { HttpError } from "@/lib/http/errors.ts";
import { addressOf } from "@/lib/http/request_context.ts";
import { unavailableAreaSentence } from "@/lib/pages/login_sentences.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { requireSameOrigin } from "@/lib/auth/session_token.ts";
import { userOf } from "@/lib/results/session_check.ts";
import type { Context } from "@/lib/site/define.ts";
import { policySource, storagePolicy } from "@/lib/site/policies.ts";
import { defineStorage, type StorageState } from "@/lib/site/state.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import { notedUnavailableArea, rememberShown } from "@/lib/auth/storage_cookie.ts";
import { endedSessions, loginsOf, namedLogin } from "@/lib/site/storage/logins.ts";
import { clearedLogin, type StorageLogin } from "@/lib/auth/storage_cookie.ts";
import { LoginEnded, StorageVisit } from "@/lib/site/storage/storage_visit.ts";
import { EndedSessions } from "./_layout.tsx";
import type { ComponentChildren } from "preact";

const SEE_OTHER = 303;

/**
 * A page of the storage is for the login that its address names, else the newest. Without a login it is the frame alone
 * with a link to the login, since the first request from a link in a mail carries no cookie.
 */
export const handler = defineStorage.middleware(async function storageVisit(ctx) {
  const { req } = ctx;
  const isForm = req.method === "POST";
  if (isForm) requireSameOrigin(req);
  try {
    return await visited(ctx);
  } finally {
    if (isForm) cancelBody(req);
  }
});

async function visited(ctx: Context<StorageState>): Promise<Response> {
  const { req, state, info, url } = ctx;
  const { storage } = state;
  const logins = loginsOf(storage, req);
  const noted = notedUnavailableArea(req);
  const login = namedLogin(logins, url.searchParams.get("account") || null);
  state.title = STORAGE_LABELS.storage;
  state.current = "storage";
  state.policy = storagePolicy(null);
  if (login === null) {
    const response = await withoutLogin(ctx, <NoLogin ctx={ctx} logins={logins} closed={noted} />);
    rememberShown(response.headers, req, noted);
    return response;
  }
  const visit = new StorageVisit(storage, info, login, logins);
  info.caller = { username: login.user, tenant: login.tenant };
  Object.assign(state, { visit, user: visit.account });
  try {
    const response = await orProblem(ctx);
    if (response.status === SEE_OTHER) return response;
    const endpoint = await storage.gateway.publicEndpoint(login, info);
    response.headers.set(
      "Content-Security-Policy",
      storagePolicy(endpoint === null ? null : policySource(endpoint)),
    );
    rememberShown(response.headers, req, noted);
    return response;
  } catch (error) {
    if (!(error instanceof LoginEnded)) throw error;
    const response = await withoutLogin(
      ctx,
      <p class="banner warn" role="alert">
        {STORAGE_SENTENCES.ended} <LoginLink ctx={ctx} />
      </p>,
    );
    response.headers.append("Set-Cookie", clearedLogin(req, login));
    return response;
  }
}

/** Where the gateway does not respond, that is what the page shows. */
async function orProblem({ next, state, render }: Context<StorageState>): Promise<Response> {
  try {
    return await next();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const { status } = error;
    state.title = STORAGE_LABELS.storage;
    state.visit.hasTrail = false;
    const why = <p class="banner bad" role="alert">{storageProblem(status, "folder")}</p>;
    return render(<Placeholder>{why}</Placeholder>, { status });
  }
}

async function withoutLogin({ req, state, render }: Context<StorageState>, why: ComponentChildren): Promise<Response> {
  Object.assign(state, { title: STORAGE_LABELS.storage, visit: undefined, user: userOf(await state.session(req)) });
  return render(<Placeholder>{why}</Placeholder>);
}

/** The body of a page in place of one that cannot be shown: why, below the name of the storage. */
function Placeholder({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="storage-home">
      <div class="head">
        <h1>{STORAGE_LABELS.storage}</h1>
      </div>
      {children}
    </div>
  );
}

interface NoLoginProps {
  readonly ctx: Context<StorageState>;
  /** The logins of the browser, none of which is the one that the address names. */
  readonly logins: readonly StorageLogin[];
  /** The side that the last login did not open; null where it opened both, or there was none. */
  readonly closed: ReturnType<typeof notedUnavailableArea>;
}

function NoLogin({ ctx, logins, closed }: NoLoginProps) {
  const { req, url, state, info } = ctx;
  const named = url.searchParams.get("account") || null;
  const ended = endedSessions(state.storage, req, logins);
  const meant = named === null ? ended : ended.filter(({ account }) => account.toLowerCase() === named.toLowerCase());
  if (meant.length > 0) return <EndedSessions sessions={meant} now={state.now()} here={info.target} />;
  return (
    <p class="empty">
      {named !== null && logins.length > 0 && <>{STORAGE_SENTENCES.noAccount(named)}{" "}</>}
      {closed?.side === "storage" && <>{unavailableAreaSentence(closed, null, state.storage.campaignTenant)}{" "}</>}
      <LoginLink ctx={ctx} /> {STORAGE_SENTENCES.logIn}
    </p>
  );
}

function LoginLink({ ctx: { info } }: Pick<NoLoginProps, "ctx">) {
  return <a href={loginPath(addressOf(info.target))}>{LABELS.logIn}</a>;
}
