import { HttpError } from "./errors.ts";
import type { Middleware } from "./middleware.ts";

/**
 * Refuses requests under a Host name we do not go by (421, RFC 9110 §15.5.20), which keeps a page that rebinds its own
 * name to this machine away from a store with well-known passwords.
 *
 * @param names host names without ports, IPv6 addresses in brackets
 */
export function hostCheck(names: readonly string[]): Middleware {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const goesBy = (origin: string, header: string | null) => {
    // A target in absolute form names a host as well (RFC 9112, section 3.2.2), which our own addresses would repeat.
    const host = URL.parse(origin)?.host;
    return host !== undefined && known.has(hostName(header ?? host)) && known.has(hostName(host));
  };
  // Nearly all requests name what the last one named.
  let last: { readonly origin: string; readonly header: string | null } | null = null;
  return function hostCheck(c, next) {
    const { url, headers } = c.get("context").request;
    const origin = url.slice(0, pathStart(url));
    const header = headers.get("Host");
    if (last?.origin !== origin || last.header !== header) {
      if (!goesBy(origin, header)) throw new HttpError(421, "Misdirected Request", { refusal: "host" });
      last = { origin, header };
    }
    return next();
  };
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/** Where the path, the query or the end of a URL begins. */
function pathStart(url: string): number {
  const authority = url.indexOf("://") + 3;
  for (let at = authority; at < url.length; at++) if ("/?#\\".includes(url[at])) return at;
  return url.length;
}
