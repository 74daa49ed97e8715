import { HttpError } from "@/lib/http/errors.ts";
import { browserHost, browserScheme } from "./browser_address.ts";
import { UNCACHED } from "./uncached.ts";

/**
 * Refuses a login or logout that another site's page sent: the `Origin` header must name the site as the browser
 * reached it, scheme and port included (RFC 6454 §7). Browsers send it with every POST, so its absence is a refusal.
 *
 * @throws HttpError 403
 */
export function requireSameOrigin(request: Pick<Request, "url" | "headers">): void {
  const host = browserHost(request);
  const origin = request.headers.get("Origin");
  // Browsers write an origin without its default port, a Host header may carry it.
  const own = host === null ? null : URL.parse(`${browserScheme(request)}://${host}`)?.origin;
  if (!origin || !own || origin.toLowerCase() !== own) {
    throw new HttpError(403, "cross-origin request refused", { headers: UNCACHED });
  }
}
