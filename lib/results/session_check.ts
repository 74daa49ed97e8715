import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { readCapped } from "@/lib/http/upstream.ts";
import { REQUEST_ID_HEADER } from "@/lib/http/request_context.ts";
import { timedCache } from "@/lib/std/caches.ts";
import { untilAborted } from "@/lib/std/timing.ts";
import { IN_PROCESS_BASE, RESULTS_PATH, type ResultsService } from "./results_service.ts";
import { sessionDigest, sessionValues } from "@/lib/auth/session_token.ts";

/** How long the result for a cookie is cached, ms (spec, Limits). */
export const SESSION_CACHE_MS = 30_000;
/** Cookies whose result is cached. */
const MAX_COOKIES = 1024;
/** Until the whole response, ms. */
const TIMEOUT_MS = 3000;
const MAX_RESPONSE_BYTES = 16 * 1024;
const USER = z.object({ user: z.string().min(1) });

interface SessionCheckOptions {
  readonly service: ResultsService;
  readonly cookieStem: string;
  /** ms since 1970 */
  readonly now: () => number;
  /** Until the whole response, ms; {@link TIMEOUT_MS} when absent. */
  readonly timeoutMs?: number;
}

/**
 * Looks up the user of a request's session cookie in the results role: of several with that name, the first it knows. Both
 * results, user and no user, are cached for 30 s per cookie; a missing response is not cached. A request without a cookie
 * that could be a session causes no call.
 */
export function sessionCheck({ service, cookieStem, now, timeoutMs = TIMEOUT_MS }: SessionCheckOptions) {
  const known = timedCache<string, { readonly user: string | null }>(
    "session_checks",
    MAX_COOKIES,
    SESSION_CACHE_MS,
    now,
  );
  const pending = new Map<string, Promise<string | null>>();

  /** The requests of one page share a call. */
  const lookUp = (token: string, digest: string, requestId: string | null) => {
    let call = pending.get(digest);
    if (!call) {
      call = requestUser(service, `${cookieStem}=${token}`, requestId, timeoutMs);
      pending.set(digest, call);
      const isCurrent = () => pending.get(digest) === call && pending.delete(digest);
      call.then((user) => {
        if (isCurrent()) known.set(digest, { user });
      }, isCurrent);
    }
    return call;
  };

  return {
    /**
     * The user of a request by its session cookie.
     *
     * @throws HttpError 401 without a valid session, 502 when the results role does not respond
     */
    async check(request: Request): Promise<ResultsSession> {
      const requestId = request.headers.get(REQUEST_ID_HEADER);
      for (const token of sessionValues(request, cookieStem)) {
        const digest = sessionDigest(token);
        const entry = known.get(digest);
        const user = entry ? entry.user : await lookUp(token, digest, requestId);
        if (user !== null) return { user, digest, cookie: `${cookieStem}=${token}` };
      }
      throw new HttpError(401, "not logged in");
    },
    /** Drops the cached and pending results of these cookie values. */
    forget(tokens: readonly string[]): void {
      for (const digest of tokens.map(sessionDigest)) {
        known.delete(digest);
        pending.delete(digest);
      }
    },
  };
}

/** The user of a session, null for no session. @throws HttpError 502 for any other response, and for none */
async function requestUser(
  service: ResultsService,
  cookie: string,
  requestId: string | null,
  timeoutMs: number,
): Promise<string | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await untilAborted(readUser(service, cookie, requestId, signal), signal);
  } catch (error) {
    throw noResponse(error);
  }
}

async function readUser(
  service: ResultsService,
  cookie: string,
  requestId: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  // Between our own roles the plain cookie name is used, and no forwarding headers are sent.
  const headers = new Headers({ "Accept-Encoding": "identity", "Cookie": cookie });
  if (requestId !== null) headers.set(REQUEST_ID_HEADER, requestId);
  const request = new Request(`${IN_PROCESS_BASE}/_session`, { headers, redirect: "manual", signal });
  const response = await service(request, { target: { path: `${RESULTS_PATH}_session`, query: "" }, peer: null });
  if (response.status !== 200) {
    await response.body?.cancel();
    if (response.status === 401) return null;
    throw noResponse();
  }
  return USER.parse(JSON.parse(await readCapped(response, MAX_RESPONSE_BYTES, TIMEOUT_MS))).user;
}

function noResponse(cause?: unknown): HttpError {
  return new HttpError(502, "the results service did not answer", { cause, coded: { code: "results_unavailable" } });
}

/** A signed-in user of the results store. */
export interface ResultsSession {
  readonly user: string;
  /** Digest of the session's token, by which its data is cached: a user's name may pass to another account. */
  readonly digest: string;
  /** The `Cookie` header by which the results role knows the session: that one cookie, under its plain name. */
  readonly cookie: string;
}

/** The check of a request's session, see {@link sessionCheck}. */
export type SessionCheck = ReturnType<typeof sessionCheck>["check"];

/** The user who is logged in, null without one, or `outage` while the results service does not answer. */
export type Session = { readonly user: string } | null | "outage";

/** The session of a page, which shows an outage in place of its data. */
export async function pageSession(check: SessionCheck, request: Request): Promise<Session> {
  try {
    return await check(request);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error.status === 401 ? null : "outage";
  }
}

/** The name of the user who is logged in; null without one, or where that is not known. */
export function userOf(session: Session): string | null {
  return session === null || session === "outage" ? null : session.user;
}
