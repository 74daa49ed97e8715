import { resultsError } from "./results_error.ts";

/** How the browser reached the site. */
export type Scheme = "http" | "https";

type Addressed = Pick<Request, "url" | "headers">;

/** The scheme in the browser's address bar: `X-Forwarded-Proto` of the proxies in front, else that of the request. */
export function browserScheme({ url, headers }: Addressed): Scheme {
  const forwarded = firstOf(headers.get("X-Forwarded-Proto"))?.toLowerCase();
  if (forwarded === "http" || forwarded === "https") return forwarded;
  return url.startsWith("https:") ? "https" : "http";
}

/** The host and port in the browser's address bar, found likewise; null when they are not a host name. */
function browserHost({ url, headers }: Addressed): string | null {
  const host = firstOf(headers.get("X-Forwarded-Host")) ?? headers.get("Host") ?? URL.parse(url)?.host ?? "";
  return /^[\w.:[\]-]+$/.test(host) ? host : null;
}

/**
 * Rejects a login or logout sent by a page of another site: the `Origin` header must name the site as the browser
 * reached it, scheme and port included (RFC 6454 §7). Browsers send it with every POST, so a missing one is rejected.
 *
 * @throws HttpError 403
 */
export function requireSameOrigin(request: Pick<Request, "url" | "headers">): void {
  const host = browserHost(request);
  const origin = request.headers.get("Origin");
  // Browsers write an origin without its default port, a Host header may carry it.
  const own = host === null ? null : URL.parse(`${browserScheme(request)}://${host}`)?.origin;
  if (!origin || !own || origin.toLowerCase() !== own) {
    throw resultsError(403, "cross-origin request refused");
  }
}

/** In a list of several proxies, the first entry comes from the one that the browser connected to. */
function firstOf(list: string | null): string | null {
  return list?.split(",", 1)[0].trim() || null;
}
