import { BoundedCache } from "@/lib/bounded_cache.ts";
import type { SessionCheck } from "@/lib/campaign_reader/results_session.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { REQUEST_ID_HEADER } from "@/lib/http/request_id.ts";
import { readCapped } from "@/lib/http/read_capped.ts";
import type { ResultsService } from "./results_service.ts";
import { sessionValue } from "./session_cookie.ts";

/** How long an answer about a cookie is believed, ms (spec, Limits). */
export const SESSION_CACHE_MS = 30_000;
/** Cookies that are remembered. */
const MAX_COOKIES = 1024;
/** Until the whole answer, ms. */
const TIMEOUT_MS = 3000;
const MAX_ANSWER_BYTES = 16 * 1024;

export interface SessionCheckOptions {
  readonly service: ResultsService;
  readonly cookieStem: string;
  /** ms since 1970 */
  readonly now: () => number;
  /** Until the whole answer, ms; {@link TIMEOUT_MS} when absent. */
  readonly timeoutMs?: number;
}

/**
 * Asks the results role whose session a request's cookie is. Yes and no are believed for 30 s per cookie; that nobody
 * answered is asked again each time. A request without a cookie that could be a session asks nobody.
 */
export function sessionCheck(options: SessionCheckOptions): SessionCheck {
  const { service, cookieStem, now, timeoutMs = TIMEOUT_MS } = options;
  const known = new BoundedCache<string, { readonly user: string | null; readonly until: number }>(MAX_COOKIES);
  const asked = new Map<string, Promise<string | null>>();

  /** Many requests of one page share a question. */
  const ask = (token: string, requestId: string | null) => {
    let question = asked.get(token);
    if (!question) {
      question = askService(service, `${cookieStem}=${token}`, requestId, timeoutMs).finally(() => asked.delete(token));
      asked.set(token, question);
    }
    return question;
  };

  return async function sessionCheck(request) {
    const token = sessionValue(request, cookieStem);
    if (token === null) throw notLoggedIn();
    let entry = known.get(token);
    if (!entry || entry.until <= now()) {
      entry = { user: await ask(token, request.headers.get(REQUEST_ID_HEADER)), until: now() + SESSION_CACHE_MS };
      known.set(token, entry);
    }
    if (entry.user === null) throw notLoggedIn();
    return { user: entry.user, cookie: `${cookieStem}=${token}` };
  };
}

/** The user of a session, null where there is none. @throws HttpError 502 for everything that is no answer to that */
async function askService(
  service: ResultsService,
  cookie: string,
  requestId: string | null,
  timeoutMs: number,
): Promise<string | null> {
  const stop = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    stop.abort();
    late.reject(unanswered());
  }, timeoutMs);
  try {
    return await Promise.race([late.promise, userOf(service, cookie, requestId, stop.signal)]);
  } catch (error) {
    throw unanswered(error);
  } finally {
    clearTimeout(timer);
  }
}

async function userOf(
  service: ResultsService,
  cookie: string,
  requestId: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  // Between our own roles the plain name holds, and nothing is forwarded.
  const headers = new Headers({ "Accept-Encoding": "identity", "Cookie": cookie });
  if (requestId !== null) headers.set(REQUEST_ID_HEADER, requestId);
  const request = new Request("http://results.internal/results/_session", { headers, redirect: "manual", signal });
  const response = await service(request, { target: { path: "/results/_session", query: "" }, peer: null });
  if (response.status === 401) {
    await response.body?.cancel();
    return null;
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw unanswered();
  }
  const answer: unknown = JSON.parse(await readCapped(response, MAX_ANSWER_BYTES, TIMEOUT_MS));
  if (typeof answer !== "object" || answer === null || !("user" in answer)) throw unanswered();
  const { user } = answer;
  if (typeof user !== "string" || user === "") throw unanswered();
  return user;
}

function notLoggedIn(): HttpError {
  return new HttpError(401, "not logged in");
}

function unanswered(cause?: unknown): HttpError {
  return new HttpError(502, "the results service did not answer", { cause });
}
