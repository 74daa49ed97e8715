import { UNCACHED } from "@/lib/http/app.ts";
import { HttpError, type HttpErrorOptions } from "@/lib/http/errors.ts";
import { type RawTarget, rawTarget, type RequestContext } from "@/lib/http/request_context.ts";
import type { UpstreamClient, UpstreamResponse } from "@/lib/http/upstream.ts";
import { percentDecoded } from "@/lib/std/text.ts";

/** The circumstances of a request to the results role. */
export interface Arrival {
  /** Raw path and query, below `/results/`; the request's own URL is ignored, because it may be normalised. */
  readonly target: RawTarget;
  /** The address of the client's connection; null for a call without one. */
  readonly peer: string | null;
  /** See {@link RequestContext}. */
  readonly source?: object;
  /** The body of a POST. */
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Called with what is known of the request where the role runs in this process. */
  readonly known?: (handled: Pick<RequestContext, "operation" | "caller" | "refusal">) => void;
}

/**
 * The results role as the web role calls it, in this process or another. Request headers are sent unchanged. The
 * request has no body: that of a POST is in the arrival, whole. It throws UpstreamError when there is no response.
 */
export type ResultsService = (request: Request, arrival: Arrival) => Promise<ResultsResponse>;

export interface ResultsResponse extends Response {
  /** Whether it is an error that this process rendered: its body is in memory, its headers need no filter. */
  isRendered?: boolean;
}

/** The base of result files within the process; no such host exists. */
export const IN_PROCESS_BASE = "http://results.internal/results";

/**
 * The results role behind an address.
 *
 * @param base ends in `/results`, without a trailing slash
 * @param upstream its timeout covers the time to the response headers
 */
export function remoteResults(base: string, upstream: UpstreamClient): ResultsService {
  const { origin, pathname } = new URL(base);
  return async function remoteResults(request, { target, body = null }) {
    const query = target.query === "" ? "" : `?${target.query}`;
    return await upstream.send({
      method: request.method,
      origin,
      target: `${pathname}/${target.path.slice(RESULTS_PATH.length)}${query}`,
      headers: Object.fromEntries(request.headers),
      body,
      signal: request.signal,
    });
  };
}

/** A `fetch` of result files, for URLs below {@link IN_PROCESS_BASE}, which this process built itself. */
type ResultsFetch = (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>>; redirect: "manual"; signal: AbortSignal },
) => Promise<UpstreamResponse>;

/** Reads result files from the role of this process. */
export function resultsFetch(service: ResultsService): ResultsFetch {
  return (url, options) => service(new Request(url, options), { target: rawTarget(url), peer: null });
}

/** Reads result files from the role behind an address, as `remoteResults`. */
export function remoteResultsFetch(base: string, upstream: UpstreamClient): ResultsFetch {
  const { origin, pathname } = new URL(base);
  return (url, { headers, signal }) =>
    upstream.send({ method: "GET", origin, target: pathname + url.slice(IN_PROCESS_BASE.length), headers, signal });
}

/** An error under `/results/`, whose response is {@link UNCACHED}. */
export function resultsError(
  status: number,
  detail: HttpError["detail"],
  { headers, cause, coded }: HttpErrorOptions = {},
): HttpError {
  return new HttpError(status, detail, { headers: { ...UNCACHED, ...headers }, cause, coded });
}

/** 502: the results role did not respond. */
export function noResultsResponse(cause?: unknown): HttpError {
  return resultsError(502, "the results service did not answer", { cause, coded: { code: "results_unavailable" } });
}

/** The path prefix of the results role. */
export const RESULTS_PATH = "/results/";

/** Longest key of an S3 object, bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The object key of a raw path, decoded exactly once. Null for anything else: a path outside `/results/…`, an escaped
 * slash or backslash, an empty, `.` or `..` segment, malformed encoding, and a namespace that is not served.
 */
export function resultKey(rawPath: string, namespaces: readonly string[]): string | null {
  if (!rawPath.startsWith(RESULTS_PATH) || !VISIBLE_ASCII.test(rawPath)) return null;
  const raw = rawPath.slice(RESULTS_PATH.length);
  if (/%2f|%5c/i.test(raw)) return null;
  const key = percentDecoded(raw);
  if (key === null || !isKeyBelow(key)) return null;
  const segments = key.split("/");
  return segments.length > 1 && namespaces.includes(segments[0]) ? key : null;
}

/** Whether a text is a key, or the end of one, that stays below what stands before it. */
export function isKeyBelow(text: string): boolean {
  if (/[\\\0]/.test(text) || new TextEncoder().encode(text).length > MAX_KEY_BYTES) return false;
  return text.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
