import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "./env.ts";
import { HttpError } from "./errors.ts";

/**
 * Refuses requests under a Host name we do not go by (421, RFC 9110 §15.5.20), which keeps a page that rebinds its own
 * name to this machine away from a store with well-known passwords.
 *
 * @param names host names without ports, IPv6 addresses in brackets
 */
export function hostCheck(names: readonly string[]): MiddlewareHandler<HttpEnv> {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return async function hostCheck(c, next) {
    // A target in absolute form names a host as well (RFC 9112, section 3.2.2), which our own addresses would repeat.
    const { host } = new URL(c.req.url);
    if (!known.has(hostName(c.req.header("Host") ?? host)) || !known.has(hostName(host))) {
      throw new HttpError(421, "Misdirected Request");
    }
    await next();
  };
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}
