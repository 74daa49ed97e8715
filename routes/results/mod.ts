import { addBelow, type AddRoute, renderError } from "@/lib/http/app.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import { methodNotAllowed, notFound } from "@/lib/http/errors.ts";
import { type Handler, RequestContext } from "@/lib/http/request_context.ts";
import { RESULTS_PATH } from "@/lib/results/object_keys.ts";
import { retryingStore } from "@/lib/results/results_store.ts";
import type { ResultsResponse, ResultsService } from "@/lib/results/results_service.ts";
import { Sessions } from "@/lib/results/sessions.ts";
import { UNCACHED } from "@/lib/results/results_error.ts";
import type { ResultsDeps, ResultsRoute } from "./deps.ts";
import { fileRoute } from "./files.ts";
import { loginRoute } from "./login.ts";
import { logoutRoute, sessionRoute } from "./session.ts";

export type { ResultsDeps } from "./deps.ts";
export { mountPassThrough } from "./pass_through.ts";

/**
 * The results role: everything below `/results/`. Login and logout are open to pages of our own origin, the rest needs a
 * session. Paths are told apart by their raw text, so that no other spelling of `_login` exists.
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
  const respond: Handler = (context) => {
    context.trustHops(deps.trustedHops);
    const { path } = context.target;
    if (!path.startsWith(RESULTS_PATH)) throw notFound();
    const name = path.slice(RESULTS_PATH.length);
    const route = Object.hasOwn(own, name) ? own[name] : file;
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
