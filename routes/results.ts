import { addBelow, type AddRoute, renderError, type RequestLog, UNCACHED, UNSTORED } from "@/lib/http/app.ts";
import { HttpError, methodNotAllowed, notFound } from "@/lib/http/errors.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import { type Handler, RequestContext } from "@/lib/http/request_context.ts";
import { browserScheme, clearedCookie, requireSameOrigin } from "@/lib/auth/session_token.ts";
import { listPageTexts, readResultObject, type ResultsReader, retryingStore } from "@/lib/results/file_response.ts";
import { isUrlencoded, loginNoteCookie } from "@/lib/results/results_login.ts";
import {
  isKeyBelow,
  resultKey,
  RESULTS_PATH,
  resultsError,
  type ResultsResponse,
  type ResultsService,
} from "@/lib/results/results_service.ts";
import { Sessions } from "@/lib/results/sessions.ts";
import { loginRoute, type ResultsDeps, type ResultsRoute } from "@/routes/results/login.ts";

/**
 * The results role: everything below `/results/`. Login and logout are open to pages of our own origin, the rest needs a
 * session. Paths are compared as raw text, so that no other spelling of `_login` exists.
 */
export function resultsRole(deps: ResultsDeps): Handler {
  const role = { ...deps, store: retryingStore(deps.store) };
  const sessions = new Sessions(role);
  const own: Readonly<Record<string, ResultsRoute>> = {
    _login: loginRoute(role, sessions),
    _logout: logoutRoute(role, sessions),
    _session: sessionRoute(sessions),
  };
  const file = fileRoute(role, sessions);
  const pages = pagesRoute(role, sessions);
  const respond: Handler = (context) => {
    context.trustHops(deps.trustedHops);
    const { path } = context.target;
    if (!path.startsWith(RESULTS_PATH)) throw notFound();
    const name = path.slice(RESULTS_PATH.length);
    const route = Object.hasOwn(own, name) ? own[name] : name.startsWith(PAGES_PREFIX) ? pages : file;
    context.operation = route.operation;
    if (!route.methods.includes(context.method)) throw methodNotAllowed(route.methods);
    return route.handler(context);
  };
  return async function resultsRole(context) {
    const response = await rendered(respond, context, deps.log);
    const { headers } = response;
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", UNCACHED["Cache-Control"]);
    headers.set("X-Content-Type-Options", "nosniff");
    return response;
  };
}

/** Serves the role where it is reached directly. */
export function mountResults(add: AddRoute, role: Handler): void {
  addBelow(add, RESULTS_PATH, role);
}

/** The role for the other roles of this process, without a network between. */
export function inProcessResults(role: Handler): ResultsService {
  return async function inProcessResults(request, { target, peer, source, body, known }) {
    const remoteAddr = peer === null ? undefined : { transport: "tcp" as const, hostname: peer, port: 0 };
    const context = new RequestContext(request, { target, remoteAddr, source, body });
    const response = await role(context);
    known?.(context);
    return response;
  };
}

/** Renders errors here, since another role of this process may call the handler without an app around it. */
async function rendered(respond: Handler, context: RequestContext, log: RequestLog): Promise<ResultsResponse> {
  try {
    return await respond(context);
  } catch (error) {
    return Object.assign(renderError(error, context, log), { isRendered: true });
  }
}

/** GET and HEAD /results/<key>: a result file, read with the session's own keys. */
function fileRoute(deps: ResultsDeps, sessions: Sessions): ResultsRoute {
  return storeRoute("results_file", deps, sessions, (context, user) => {
    const key = resultKey(context.target.path, deps.namespaces);
    if (key === null) throw notFound("file");
    const method = context.method === "HEAD" ? "HEAD" : "GET";
    return readResultObject(deps.store, { method, key, ...user });
  });
}

/** The path prefix of the lists of a volume's texts. */
const PAGES_PREFIX = "_pages/";

/**
 * GET /results/_pages/<namespace>/<pipeline>/<volume>: the names of the pages whose text is published, at most 1,000 in
 * the order of their keys. A `next` that is not null is the value of `after` for those that follow.
 */
function pagesRoute(deps: ResultsDeps, sessions: Sessions): ResultsRoute {
  return storeRoute("results_pages", deps, sessions, async ({ target }, user) => {
    const volume = resultKey(target.path.replace(PAGES_PREFIX, ""), deps.namespaces);
    if (volume === null || volume.split("/").length !== 3) throw notFound("volume");
    const after = new URLSearchParams(target.query).get("after") ?? "";
    if (after !== "" && !isKeyBelow(after)) throw resultsError(422, "after is not the name of a file");
    return Response.json(await listPageTexts(deps.store, { volume, after, ...user }), { headers: UNSTORED });
  });
}

/** A route that reads the store with the keys of the session. */
function storeRoute(
  operation: string,
  deps: ResultsDeps,
  sessions: Sessions,
  read: (context: RequestContext, user: ResultsReader) => Promise<Response>,
): ResultsRoute {
  return {
    operation,
    methods: ["GET", "HEAD"],
    async handler(context) {
      const { request, info } = context;
      // Read now: once a client has left, its request can no longer be read.
      const { headers, signal } = request;
      const scheme = browserScheme(request);
      const session = await sessions.current(request);
      const { user, keys } = session;
      context.caller = { username: user, tenant: deps.store.tenant };
      try {
        return await read(context, { headers, user, keys, signal, info });
      } catch (error) {
        if (!(error instanceof HttpError) || error.status !== 401) throw error;
        // The store no longer knows the session's keys, so neither shall the browser.
        sessions.end(session);
        const headers = { ...error.headers, "Set-Cookie": clearedCookie(scheme, deps.cookieStem) };
        throw new HttpError(error.status, error.detail, { headers, cause: error });
      }
    },
  };
}

/** GET /results/_session: who is logged in. */
function sessionRoute(sessions: Sessions): ResultsRoute {
  return {
    operation: "results_session",
    methods: ["GET", "HEAD"],
    async handler({ request }) {
      const { user } = await sessions.current(request);
      return Response.json({ user }, { headers: UNSTORED });
    },
  };
}

/** POST /results/_logout: ends the session, wherever its cookie is; a form is led to the login page. */
function logoutRoute(deps: ResultsDeps, sessions: Sessions): ResultsRoute {
  return {
    operation: "results_logout",
    methods: ["POST"],
    async handler(context) {
      const { request } = context;
      requireSameOrigin(request);
      // Read now: once a client has left, its request can no longer be read.
      const scheme = browserScheme(request);
      const isForm = isUrlencoded(request.headers);
      const users = await sessions.logOut(request);
      await recordLogout(deps, context, users);
      const cleared = clearedCookie(scheme, deps.cookieStem);
      if (!isForm) return new Response(null, { status: 204, headers: { ...UNSTORED, "Set-Cookie": cleared } });
      return seeOther("/login", [cleared, loginNoteCookie(scheme, { kind: "loggedOut" }, deps.now())]);
    },
  };
}

/** One record for each account whose session ended. */
async function recordLogout(
  { logins, store, loginTenant }: ResultsDeps,
  context: RequestContext,
  users: readonly string[],
) {
  const { source, clientAddress: address, requestId } = context;
  for (const name of users) {
    const actor = { name, tenant: store.tenant ?? loginTenant };
    const details = { by: "form", campaigns: true };
    await logins?.loggedOut({ source, actor, address, requestId, role: "results", status: 200, details });
  }
}
