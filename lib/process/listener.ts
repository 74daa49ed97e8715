import type { ConnectionLimits } from "./connections.ts";
import { type DrainingServer, drainingServer, type Handler } from "./draining_server.ts";

/** Raised when the site's address cannot be listened on; the message is one line with the way out. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** The handlers while there is no application. */
interface FallbackHandlers {
  /** Before {@link Listener.answerWith}. */
  readonly starting: Handler;
  /** Once the server drains. */
  readonly stopping: Handler;
}

/** A listening server whose handler may come later: an early request gets 503 with Retry-After. */
interface Listener extends DrainingServer {
  /** The address as a browser uses it, without a trailing slash. */
  readonly origin: string;
  /** Sets the handler of requests from now on. */
  answerWith(handler: Handler): void;
}

/**
 * Listens at once, so that a taken port ends a start before any of its servers run.
 *
 * @throws {ListenError}
 */
export function listen(
  hostname: string,
  port: number,
  { starting, stopping }: FallbackHandlers,
  limits?: ConnectionLimits,
): Listener {
  let answer = starting;
  let server: DrainingServer;
  try {
    server = drainingServer({ hostname, port, limits }, (request, info) => answer(request, info), stopping);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw new ListenError(
        `PORT: ${port} is taken on ${hostname}: stop the program that holds it, or set another PORT`,
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new ListenError(`PORT: ${port} may not be used by this account: set a PORT above 1023`);
    }
    throw new ListenError(
      `HOST: ${hostname} cannot be listened on (${error instanceof Error ? error.message : error}): set another HOST`,
    );
  }
  return {
    ...server,
    origin: `http://${shownHost(hostname)}:${server.port}`,
    answerWith: (handler) => answer = handler,
  };
}

/** A wildcard address is no address to open: this machine's own name stands for it. */
function shownHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
