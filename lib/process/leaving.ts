import type { Handler } from "./handler.ts";

interface Leaving {
  /** Whether a path is a probe, by which a proxy decides where it sends requests. */
  readonly isProbe: (path: string) => boolean;
  /** Handles probes. */
  readonly stopping: Handler;
}

/**
 * Handles requests as before while proxies in front turn to other replicas: probes are handled by `stopping`, and each
 * connection is closed behind its next response, since a proxy would send further requests on it.
 */
export function leaving(handler: Handler, { isProbe, stopping }: Leaving): Handler {
  return async function leave(request, info) {
    const handle = isProbe(new URL(request.url).pathname) ? stopping : handler;
    const response = await handle(request, info);
    response.headers.set("Connection", "close");
    return response;
  };
}
