import type { RequestContext } from "@/lib/http/request_context.ts";
import { type RawTarget, rawTarget } from "@/lib/http/raw_path.ts";
import type { UpstreamResponse } from "@/lib/http/response_body.ts";
import type { UpstreamClient } from "@/lib/http/upstream/upstream_request.ts";
import { RESULTS_PATH } from "./object_keys.ts";

/** The circumstances of a request to the results role. */
export interface Arrival {
  /** Raw path and query, below `/results/`; the request's own URL is ignored, because it may be normalised. */
  readonly target: RawTarget;
  /** The address of the client's connection; null for a call without one. */
  readonly peer: string | null;
  /** As of {@link RequestContext}. */
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
type ResultsFetch = (url: string, options: ResultsFetchOptions) => Promise<UpstreamResponse>;

interface ResultsFetchOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

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
