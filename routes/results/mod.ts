import { Hono } from "hono";
import type { HttpEnv } from "@/lib/http/env.ts";
import { methodNotAllowed, notFound } from "@/lib/http/errors.ts";
import { rawTarget } from "@/lib/http/raw_path.ts";
import { renderError } from "@/lib/http/render_error.ts";
import { REQUEST_ID_HEADER, requestId } from "@/lib/http/request_id.ts";
import { RESULTS_PATH } from "@/lib/results/object_keys.ts";
import { patientStore } from "@/lib/results/results_store.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";
import { UNCACHED } from "@/lib/results/uncached.ts";
import type { ResultsDeps, ResultsRoute } from "./deps.ts";
import { fileRoute } from "./files.ts";
import { loginRoute } from "./login.ts";
import { logoutRoute, sessionRoute } from "./session.ts";

export type { ResultsDeps } from "./deps.ts";
export { passThroughApp, type PassThroughDeps } from "./pass_through.ts";

/**
 * The results role: everything below `/results/`. Login and logout are open to pages of our own origin, the rest needs a
 * session. Paths are told apart by their raw text, so that no other spelling of `_login` exists.
 */
export function resultsApp(deps: ResultsDeps): Hono<HttpEnv> {
  const role = { ...deps, store: patientStore(deps.store) };
  const own: Readonly<Record<string, ResultsRoute>> = {
    _login: loginRoute(role),
    _logout: logoutRoute(role),
    _session: sessionRoute(role),
  };
  const file = fileRoute(role);

  const app = new Hono<HttpEnv>();
  app.onError((error, c) => renderError(error, c, deps.log));
  app.use(`${RESULTS_PATH}*`, async (c, next) => {
    // Alone in a process, the envelope around all roles has done this already.
    if (!c.get("target")) c.set("target", c.env?.target ?? rawTarget(c.req.raw.url));
    if (!c.get("requestId")) c.set("requestId", requestId(c.req.header(REQUEST_ID_HEADER)));
    await next();
    c.env?.known?.(c.get("operation"), c.get("caller"));
    const { headers } = c.res;
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", UNCACHED["Cache-Control"]);
    headers.set("X-Content-Type-Options", "nosniff");
  });
  app.all(`${RESULTS_PATH}*`, async (c) => {
    const { path } = c.get("target");
    if (!path.startsWith(RESULTS_PATH)) throw notFound();
    const name = path.slice(RESULTS_PATH.length);
    const route = Object.hasOwn(own, name) ? own[name] : file;
    c.set("operation", route.operation);
    if (!route.methods.includes(c.req.method)) throw methodNotAllowed(route.methods);
    return await route.handler(c);
  });
  return app;
}

/** The role for the other roles of this process, without a network between. */
export function inProcessResults(app: Hono<HttpEnv>): ResultsService {
  return async function inProcessResults(request, { target, peer, known }) {
    const remoteAddr = peer === null ? undefined : { transport: "tcp" as const, hostname: peer, port: 0 };
    return await app.fetch(request, { target, remoteAddr, known });
  };
}
