import { readBytes } from "@/lib/http/body.ts";
import { clientClosedRequest, HttpError } from "@/lib/http/errors.ts";
import { guardedBody, UpstreamError } from "@/lib/http/upstream.ts";
import { hasDotSegment, REQUEST_ID_HEADER } from "@/lib/http/request_context.ts";
import type { TimeBounds } from "@/lib/std/body_reader.ts";
import { browserHost, browserScheme, cookieName, sessionValues } from "@/lib/auth/session_token.ts";
import {
  type Arrival,
  IN_PROCESS_BASE,
  noResultsResponse,
  RESULTS_PATH,
  resultsError,
  type ResultsResponse,
  type ResultsService,
} from "./results_service.ts";

/** Largest body of a login or logout, bytes (spec, Limits). */
export const MAX_POSTED_BYTES = 16 * 1024;

const REQUEST_HEADERS = ["origin", "content-type", "if-none-match", "if-modified-since", "range", "if-range"];
const RESPONSE_HEADERS = [
  "content-type",
  "content-length",
  "etag",
  "last-modified",
  "cache-control",
  "content-security-policy",
  "x-content-type-options",
  "content-disposition",
  "content-encoding",
  "www-authenticate",
  "content-range",
  "accept-ranges",
  "retry-after",
  // A 405 must have it (RFC 9110 §15.5.6).
  "allow",
];
const METHODS = ["GET", "HEAD", "POST"];
const BODILESS = new Set([204, 205, 304]);

/** The forms of the results role; everything else below `/results/` is read. */
export const LOGIN_PATH = `${RESULTS_PATH}_login`;
export const LOGOUT_PATH = `${RESULTS_PATH}_logout`;

export interface PassThroughOptions {
  readonly service: ResultsService;
  readonly cookieStem: string;
  /** Time bounds of a file; those of all streams when absent. */
  readonly bounds?: TimeBounds;
}

/** A request to pass through, with callbacks for a body that fails after the headers. */
interface Passing extends Arrival {
  readonly requestId: string;
  readonly broken: (error: unknown) => void;
  /** Called when the client does not read its response; absent without a hold on its connection. */
  readonly unread?: () => void;
}

type PassThrough = (request: Request, passing: Passing) => Promise<Response>;

/**
 * Passes `/results/…` to the results role: the raw path and query unchanged, a fixed list of headers, of the cookies only
 * the session's, and the client's address at the end of `X-Forwarded-For`. It returns the status, the body and a fixed
 * list of headers of the response.
 *
 * It throws HttpError: 404 for a path that cannot be passed unchanged, 405, 413, 408, 502 when there is no response, 499
 * when the client disconnected.
 */
export function passThrough({ service, cookieStem, bounds }: PassThroughOptions): PassThrough {
  return async function passThrough(request, { target, peer, source, requestId, broken, known, unread }) {
    if (!isTransparent(target.path) || !isVisible(target.query)) throw resultsError(404, "Not Found");
    // Read now: after a disconnect the request's properties cannot be read.
    const { method } = request;
    if (!METHODS.includes(method)) {
      const isForm = [LOGIN_PATH, LOGOUT_PATH].includes(target.path);
      throw resultsError(405, "Method Not Allowed", { headers: { Allow: isForm ? "POST" : "GET, HEAD" } });
    }
    const body = method === "POST" ? await postedBody(request) : undefined;
    const inner = new Request(`${IN_PROCESS_BASE}/`, { method, redirect: "manual", signal: request.signal });
    // Set in place, since a Request copies the headers that it is created with.
    setRequestHeaders(inner.headers, request, cookieStem, peer, requestId);
    const response = await answered(service(inner, { target, peer, source, body, known }));
    if (response.status < 200 || response.status > 599) {
      await response.body?.cancel();
      throw noResultsResponse();
    }
    if (response.isRendered) return response;
    const { status } = response;
    const headers = responseHeaders(response.headers);
    if (BODILESS.has(status) || !response.body) {
      await response.body?.cancel();
      return new Response(null, { status, headers });
    }
    // A role in this process leaves the body of a HEAD for the middleware to measure; a remote one sends none.
    if (method === "HEAD") return new Response(response.body, { status, headers });
    // Without a hold on a connection, the caller may read the body in JavaScript and collect its chunks.
    const guarded = guardedBody(response.body, { bounds, broken, unread, freesChunks: unread !== undefined });
    return new Response(guarded, { status, headers });
  };
}

/** Whether a path means the same at each hop: no client or proxy may normalise it to one outside `/results/`. */
function isTransparent(path: string): boolean {
  return path.startsWith(RESULTS_PATH) && isVisible(path) && !path.includes("\\") && !hasDotSegment(path);
}

function isVisible(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

function setRequestHeaders(
  headers: Headers,
  request: Request,
  stem: string,
  peer: string | null,
  requestId: string,
): void {
  headers.set("Accept-Encoding", "identity");
  headers.set(REQUEST_ID_HEADER, requestId);
  for (const name of REQUEST_HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const before = request.headers.get("X-Forwarded-For");
  // A client without an address still gets an entry: the one before it is not trusted.
  headers.set("X-Forwarded-For", before ? `${before}, ${peer ?? "unknown"}` : peer ?? "unknown");
  const scheme = browserScheme(request);
  headers.set("X-Forwarded-Proto", scheme);
  const host = browserHost(request);
  if (host) headers.set("X-Forwarded-Host", host);
  const name = cookieName(stem, scheme);
  const cookies = sessionValues(request, stem).map((value) => `${name}=${value}`);
  if (cookies.length > 0) headers.set("Cookie", cookies.join("; "));
}

function responseHeaders(from: Headers): Headers {
  const headers = new Headers();
  for (const name of RESPONSE_HEADERS) {
    const value = from.get(name);
    if (value !== null) headers.set(name, value);
  }
  const location = from.get("Location");
  if (location !== null && isOwnPath(location)) headers.set("Location", location);
  for (const cookie of from.getSetCookie()) headers.append("Set-Cookie", cookie);
  return headers;
}

/** A second slash or backslash would make the first segment a host. */
function isOwnPath(location: string): boolean {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(location);
}

async function postedBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readBytes(request, MAX_POSTED_BYTES);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw resultsError(error.status, error.status === 413 ? "body too large" : error.detail);
  }
}

async function answered(response: Promise<ResultsResponse>): Promise<ResultsResponse> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    if (error.problem === "aborted") throw clientClosedRequest();
    throw noResultsResponse(error);
  }
}
