import type { LoggedCaller } from "@/lib/http/request_context.ts";
import { type RawTarget, rawTarget } from "@/lib/http/raw_path.ts";
import type { Upstream } from "@/lib/http/upstream.ts";
import { RESULTS_PATH } from "./object_keys.ts";

/** What a request to the results role has beside itself. */
export interface Arrival {
  /** Path and query as they came, below `/results/`; the request's own URL is not looked at, since it may be folded. */
  readonly target: RawTarget;
  /** Who connected to us; null where nobody did. */
  readonly peer: string | null;
  /** Hears, where the role is in this process, what the request turned out to be and whose it is. */
  readonly known?: (operation: string | undefined, caller: LoggedCaller | undefined) => void;
}

/**
 * The results role as the web role sees it, in this process or in another one. Its headers go out as they are; a body is
 * small. It throws UpstreamError when there is no answer.
 */
export type ResultsService = (request: Request, arrival: Arrival) => Promise<Response>;

/** The base of result files where no network lies between; no such host exists. */
export const IN_PROCESS_BASE = "http://results.internal/results";

/**
 * The results role behind an address.
 *
 * @param base ends in `/results`, without a trailing slash
 * @param upstream its time limit holds until the response headers
 */
export function remoteResults(base: string, upstream: Upstream): ResultsService {
  const { origin, pathname } = new URL(base);
  return async function remoteResults(request, { target }) {
    const query = target.query === "" ? "" : `?${target.query}`;
    return await upstream({
      method: request.method,
      origin,
      target: `${pathname}/${target.path.slice(RESULTS_PATH.length)}${query}`,
      headers: new Headers(request.headers),
      body: request.body ? await request.bytes() : null,
      signal: request.signal,
    });
  };
}

/** The service for those who read files by URLs that we made ourselves, as `fetch` does. */
export function resultsFetch(service: ResultsService): (request: Request) => Promise<Response> {
  return (request) => service(request, { target: rawTarget(request.url), peer: null });
}
