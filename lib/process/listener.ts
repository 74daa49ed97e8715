import { CertificateError, type CertificatePaths } from "./certificate_files.ts";
import type { ConnectionLimits } from "./connections.ts";
import { type DrainingServer, drainingServer, type Handler } from "./draining_server.ts";

/** Raised when the site's address cannot be listened on; the message is one line with the way out. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** Where to listen and how. */
interface ListenOptions {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The setting of the port, for messages; `PORT` when absent. */
  readonly portSetting?: string;
  /** The setting of the host; `HOST` when absent. */
  readonly hostSetting?: string;
  readonly connections?: ConnectionLimits;
  /** Serves HTTPS; null or absent: plain HTTP. */
  readonly certificate?: CertificatePaths | null;
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
  { host, port, portSetting = "PORT", hostSetting = "HOST", connections, certificate }: ListenOptions,
  fallbacks: FallbackHandlers,
): Listener {
  const { starting, stopping } = fallbacks;
  let answer = starting;
  let server: DrainingServer;
  try {
    const options = { hostname: host, port, limits: connections, certificate };
    server = drainingServer(options, (request, info) => answer(request, info), stopping);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw new ListenError(
        `${portSetting}: ${port} is taken on ${host}: stop the program that holds it, or set another ${portSetting}`,
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new ListenError(`${portSetting}: ${port} may not be used by this account: set one above 1023`);
    }
    if (error instanceof CertificateError && certificate) {
      const { certFile, keyFile } = certificate;
      throw new ListenError(
        `TLS_CERT_FILE: ${certFile} and TLS_KEY_FILE: ${keyFile} cannot be used (${error.message}): ` +
          "set a PEM certificate chain and its PEM private key",
      );
    }
    throw new ListenError(
      `${hostSetting}: ${host} cannot be listened on (${error instanceof Error ? error.message : error}): ` +
        `set another ${hostSetting}`,
    );
  }
  return {
    ...server,
    origin: `${certificate ? "https" : "http"}://${shownHost(host)}:${server.port}`,
    answerWith: (handler) => answer = handler,
  };
}

/** A wildcard address is no address to open: this machine's own name stands for it. */
function shownHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
