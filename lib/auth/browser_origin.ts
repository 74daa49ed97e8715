import { forwarded } from "@/lib/http/request_context.ts";
import { UNCACHED } from "@/lib/http/app.ts";
import { HttpError } from "@/lib/http/errors.ts";

/** The scheme of the site's URL in the browser. */
export type Scheme = "http" | "https";

type Addressed = Pick<Request, "url" | "headers">;

/** The scheme in the browser's address bar: `X-Forwarded-Proto` of our own proxies, else that of the request. */
export function browserScheme(request: Addressed): Scheme {
  const stated = forwarded(request, "X-Forwarded-Proto")?.toLowerCase();
  if (stated === "http" || stated === "https") return stated;
  return request.url.startsWith("https:") ? "https" : "http";
}

/** The results on the request's own origin, which is only used where the Host name was checked before. */
export function ownResultsUrl(request: Request): string {
  return `${browserScheme(request)}://${new URL(request.url).host}/results`;
}

/** The host and port in the browser's address bar as they were sent, found likewise. */
export function browserHost(request: Addressed): string {
  return forwarded(request, "X-Forwarded-Host") ?? request.headers.get("Host") ?? URL.parse(request.url)?.host ?? "";
}

/**
 * Rejects a login or logout sent by a page of another site: the `Origin` header must name the site as the browser
 * reached it, scheme and port included (RFC 6454 §7). Browsers send it with every POST, so a missing one is rejected.
 *
 * @throws HttpError 403; its code says which part differs, since a proxy may have left a header out
 */
export function requireSameOrigin(request: Pick<Request, "url" | "headers">): void {
  const host = browserHost(request);
  const origin = request.headers.get("Origin");
  // Browsers write an origin without its default port, a Host header may carry it.
  const own = /^[\w.:[\]-]+$/.test(host) ? URL.parse(`${browserScheme(request)}://${host}`)?.origin : null;
  if (!origin || !own || origin.toLowerCase() !== own) {
    const isSameHost = URL.parse(origin ?? "")?.host === URL.parse(own ?? "")?.host;
    const coded = { code: isSameHost ? "origin_scheme" : "origin_host" } as const;
    throw new HttpError(403, "cross-origin request refused", { headers: UNCACHED, coded });
  }
}
