import type { AddRoute } from "@/lib/http/application.ts";
import { methodNotAllowed, notFound } from "@/lib/http/errors.ts";
import { Exchange } from "@/lib/http/exchange.ts";
import { around, errorsAnswered, type Handler, type Step } from "@/lib/http/steps.ts";
import { RESULTS_PATH } from "@/lib/results/object_keys.ts";
import { patientStore } from "@/lib/results/results_store.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";
import { Sessions } from "@/lib/results/sessions.ts";
import { UNCACHED } from "@/lib/results/uncached.ts";
import type { ResultsDeps, ResultsRoute } from "./deps.ts";
import { fileRoute } from "./files.ts";
import { loginRoute } from "./login.ts";
import { logoutRoute, sessionRoute } from "./session.ts";

export type { ResultsDeps } from "./deps.ts";
export { mountPassThrough, type PassThroughDeps } from "./pass_through.ts";

/**
 * The results role: everything below `/results/`. Login and logout are open to pages of our own origin, the rest needs a
 * session. Paths are told apart by their raw text, so that no other spelling of `_login` exists.
 */
export function resultsRole(deps: ResultsDeps): Handler {
  const role = { ...deps, store: patientStore(deps.store) };
  const sessions = new Sessions(role);
  const own: Readonly<Record<string, ResultsRoute>> = {
    _login: loginRoute(role, sessions),
    _logout: logoutRoute(role, sessions),
    _session: sessionRoute(sessions),
  };
  const file = fileRoute(role, sessions);
  return around([resultHeaders, errorsAnswered(deps.log)], async (exchange) => {
    exchange.trustHops(deps.trustedHops);
    const { path } = exchange.target;
    if (!path.startsWith(RESULTS_PATH)) throw notFound();
    const name = path.slice(RESULTS_PATH.length);
    const route = Object.hasOwn(own, name) ? own[name] : file;
    exchange.operation = route.operation;
    if (!route.methods.includes(exchange.method)) throw methodNotAllowed(route.methods);
    return await route.handler(exchange);
  });
}

/** Serves the role where it is reached directly. */
export function mountResults(add: AddRoute, role: Handler): void {
  add(`${RESULTS_PATH}{*}`, role);
}

/** The role for the other roles of this process, without a network between. */
export function inProcessResults(role: Handler): ResultsService {
  return async function inProcessResults(request, { target, peer, known }) {
    const remoteAddr = peer === null ? undefined : { transport: "tcp" as const, hostname: peer, port: 0 };
    const exchange = new Exchange(request, { target, remoteAddr });
    const response = await role(exchange);
    known?.(exchange.operation, exchange.caller);
    return response;
  };
}

const resultHeaders: Step = async function resultHeaders(exchange, next) {
  const response = await next(exchange);
  const { headers } = response;
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", UNCACHED["Cache-Control"]);
  headers.set("X-Content-Type-Options", "nosniff");
  return response;
};
