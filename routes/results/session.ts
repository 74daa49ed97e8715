import type { RequestContext } from "@/lib/http/request_context.ts";
import { browserScheme, requireSameOrigin } from "@/lib/results/browser_origin.ts";
import { isUrlencoded } from "@/lib/results/login_form.ts";
import { loginNoteCookie } from "@/lib/results/login_note.ts";
import { clearedCookie } from "@/lib/results/session_cookie.ts";
import type { Sessions } from "@/lib/results/sessions.ts";
import type { ResultsDeps, ResultsRoute } from "./deps.ts";

const UNSTORED = { "Cache-Control": "private, no-store" };

/** GET /results/_session: who is logged in. */
export function sessionRoute(sessions: Sessions): ResultsRoute {
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
export function logoutRoute(deps: ResultsDeps, sessions: Sessions): ResultsRoute {
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
      const headers = new Headers({
        ...UNSTORED,
        "Set-Cookie": clearedCookie(scheme, deps.cookieStem),
      });
      if (!isForm) return new Response(null, { status: 204, headers });
      headers.set("Location", "/login");
      headers.append("Set-Cookie", loginNoteCookie(scheme, { kind: "loggedOut" }, deps.now()));
      return new Response(null, { status: 303, headers });
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
