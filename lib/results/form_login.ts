import { peerAddress, type RequestContext, trustCopy } from "@/lib/http/request_context.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { browserScheme, clearedCookie, sessionValues } from "@/lib/auth/session_token.ts";
import { LOGIN_PATH, LOGOUT_PATH, passThrough, type PassThroughOptions } from "./pass_through.ts";
import type { Credentials } from "./results_login.ts";

/** The results role's response to a form. */
export interface ResultsAnswer {
  /** The code of the error that the form ended with; null: it was accepted. */
  readonly error: string | null;
  /** Its `Set-Cookie` values. */
  readonly cookies: readonly string[];
}

/** Login and logout of the campaigns, as the forms of this site's pages use them. */
export interface ResultsLogin {
  logIn(context: RequestContext, credentials: Credentials): Promise<ResultsAnswer>;
  /** The cookies of its response always remove the session from the browser; an error says that it did not end. */
  logOut(context: RequestContext): Promise<ResultsAnswer>;
}

interface ResultsLoginOptions extends PassThroughOptions {
  /** Drops what this role remembers of sessions that log out, by their cookies' values. */
  readonly forgetSessions?: (tokens: readonly string[]) => void;
}

/** The forms of the results role, sent through the pass-through as a browser would send them. */
export function resultsLogin(options: ResultsLoginOptions): ResultsLogin {
  const pass = passThrough(options);
  const send = async (context: RequestContext, path: string, form: URLSearchParams): Promise<ResultsAnswer> => {
    const { request, requestId, info } = context;
    const headers = new Headers(request.headers);
    headers.set("Content-Type", "application/x-www-form-urlencoded");
    headers.delete("Content-Length");
    const posted = new Request(request.url, {
      method: "POST",
      headers,
      body: new TextEncoder().encode(form.toString()),
      signal: request.signal,
    });
    trustCopy(posted, request);
    try {
      const response = await pass(posted, {
        target: { path, query: "" },
        peer: peerAddress(info),
        source: context.source,
        requestId,
        broken: () => {},
        known: ({ caller, refusal }) => {
          if (caller) context.caller = caller;
          if (refusal !== undefined) context.refusal = refusal;
        },
      });
      await response.body?.cancel();
      return { error: errorOf(response), cookies: response.headers.getSetCookie() };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { error: String(error.status), cookies: [] };
    }
  };
  return {
    logIn: (context, { username, password }) => send(context, LOGIN_PATH, new URLSearchParams({ username, password })),
    async logOut(context) {
      const { request } = context;
      const { cookieStem } = options;
      // Read now: once a client has left, its request can no longer be read.
      const tokens = sessionValues(request, cookieStem);
      const cleared = clearedCookie(browserScheme(request), cookieStem);
      if (tokens.length === 0) return { error: null, cookies: [cleared] };
      try {
        const { error, cookies } = await send(context, LOGOUT_PATH, new URLSearchParams());
        return { error, cookies: error === null ? cookies : [cleared] };
      } finally {
        options.forgetSessions?.(tokens);
      }
    },
  };
}

/** A form that failed leads to the login page with its status. */
function errorOf({ status, headers }: Response): string | null {
  if (status !== 303) return String(status);
  const location = headers.get("Location") ?? "";
  const query = location.startsWith("/login?") ? location.slice("/login?".length) : "";
  return new URLSearchParams(query).get("error");
}
