import { HttpError, notFound } from "@/lib/http/errors.ts";
import { browserScheme } from "@/lib/results/browser_origin.ts";
import { readResultObject } from "@/lib/results/file_response.ts";
import { resultKey } from "@/lib/results/object_keys.ts";
import { clearedCookie } from "@/lib/results/session_cookie.ts";
import type { Sessions } from "@/lib/results/sessions.ts";
import type { ResultsDeps, ResultsRoute } from "./deps.ts";

/** GET and HEAD /results/<key>: a result file, read with the session's own keys. */
export function fileRoute(deps: ResultsDeps, sessions: Sessions): ResultsRoute {
  return {
    operation: "results_file",
    methods: ["GET", "HEAD"],
    async handler(context) {
      const { request, info } = context;
      // Read now: once a client has left, its request can no longer be read.
      const { headers, signal } = request;
      const scheme = browserScheme(request);
      const session = await sessions.current(request);
      const { user, keys } = session;
      context.caller = { username: user, tenant: deps.store.tenant };
      const key = resultKey(context.target.path, deps.namespaces);
      if (key === null) throw notFound("file");
      const method = context.method === "HEAD" ? "HEAD" : "GET";
      try {
        return await readResultObject(deps.store, { method, key, headers, user, keys, signal, info });
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
