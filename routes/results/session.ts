import { HttpError } from "@/lib/http/errors.ts";
import { browserScheme } from "@/lib/results/browser_address.ts";
import { isUrlencoded } from "@/lib/results/login_form.ts";
import { requireSameOrigin } from "@/lib/results/origin_check.ts";
import { clearedCookie, sessionValue } from "@/lib/results/session_cookie.ts";
import { openSession, type Session } from "@/lib/results/session_token.ts";
import { UNCACHED } from "@/lib/results/uncached.ts";
import type { ResultsDeps, ResultsRoute } from "./deps.ts";

const UNSTORED = { "Cache-Control": "private, no-store" };

/** GET /results/_session: who is logged in. */
export function sessionRoute(deps: ResultsDeps): ResultsRoute {
  return {
    operation: "results_session",
    methods: ["GET", "HEAD"],
    handler({ request }) {
      const { user } = requireSession(request, deps);
      return Response.json({ user }, { headers: UNSTORED });
    },
  };
}

/** POST /results/_logout: takes the cookie out of the browser; a form is led to the login page. */
export function logoutRoute(deps: ResultsDeps): ResultsRoute {
  return {
    operation: "results_logout",
    methods: ["POST"],
    handler({ request }) {
      requireSameOrigin(request);
      const headers = new Headers({
        ...UNSTORED,
        "Set-Cookie": clearedCookie(browserScheme(request), deps.cookieStem),
      });
      if (!isUrlencoded(request.headers)) return new Response(null, { status: 204, headers });
      headers.set("Location", "/login");
      return new Response(null, { status: 303, headers });
    },
  };
}

/** The session that a request's cookie holds. @throws HttpError 401 */
export function requireSession(request: Request, { cookieStem, sessionKey, now }: ResultsDeps): Session {
  const token = sessionValue(request, cookieStem);
  const key = token === null ? null : sessionKey();
  const session = token === null || key === null ? null : openSession(token, key, cookieStem, now());
  if (session === null) throw new HttpError(401, "not logged in", { headers: UNCACHED });
  return session;
}
