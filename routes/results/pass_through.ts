import type { RequestLog } from "@/lib/http/access_log.ts";
import { addBelow, type AddRoute } from "@/lib/http/app.ts";
import { peerAddress } from "@/lib/http/client_address.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { failedLoginPath, isUrlencoded } from "@/lib/results/results_login.ts";
import { UNCACHED } from "@/lib/http/default_headers.ts";
import { RESULTS_PATH } from "@/lib/results/results_service.ts";
import { sessionValues } from "@/lib/auth/session_token.ts";
import { passThrough, type PassThroughOptions } from "@/lib/results/pass_through.ts";

const LOGIN_PATH = `${RESULTS_PATH}_login`;
const LOGOUT_PATH = `${RESULTS_PATH}_logout`;
/** The status under which a client that left is logged. */
const CLIENT_LEFT = 499;

interface PassThroughDeps extends PassThroughOptions {
  /** Drops what this role remembers of sessions that log out, by their cookies' values. */
  readonly forgetSessions?: (tokens: readonly string[]) => void;
  readonly log: RequestLog;
}

/** `/results/…` on the web role: everything is the results role's answer. It needs the default headers before it. */
export function mountPassThrough(add: AddRoute, deps: PassThroughDeps): void {
  const pass = passThrough(deps);
  addBelow(add, RESULTS_PATH, async (context) => {
    context.operation = "results_pass_through";
    const { request, requestId, target } = context;
    const isForm = context.method === "POST" && target.path === LOGIN_PATH && isUrlencoded(request.headers);
    // Read now: once a client has left, its request can no longer be read.
    const isLogout = context.method === "POST" && target.path === LOGOUT_PATH;
    const loggedOut = isLogout ? sessionValues(request, deps.cookieStem) : [];
    try {
      return await passed();
    } catch (error) {
      // A form of a page was sent by a browser, which would show the JSON of an error as text.
      if (!isForm || !(error instanceof HttpError) || error.status === CLIENT_LEFT) throw error;
      return new Response(null, { status: 303, headers: { ...UNCACHED, Location: failedLoginPath(error, "/") } });
    } finally {
      deps.forgetSessions?.(loggedOut);
    }

    function passed(): Promise<Response> {
      return pass(request, {
        target,
        peer: peerAddress(context.info),
        source: context.source,
        requestId,
        // The type alone: what an upstream says of itself may hold anything.
        broken: (error) => deps.log.write({ level: "warn", request_id: requestId, broken_answer: nameOf(error) }),
        unread: context.info?.breakOff?.bind(context.info),
        known: ({ operation, caller, refusal }) => {
          if (operation) context.operation = operation;
          if (caller) context.caller = caller;
          if (refusal !== undefined) context.refusal = refusal;
        },
      });
    }
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
