import { type ServeConnection, serveConnection } from "@/lib/runtime/serve_connection.ts";
import { cancelBody, thenCancelBody } from "@/lib/std/body_reader.ts";
import type { RunningServer } from "@/lib/std/http_host.ts";
import {
  type ConnectionFigures,
  type ConnectionLimits,
  Connections,
  DEFAULT_CONNECTION_LIMITS,
} from "./connections.ts";
import { faultResponse, type Handler, namesHost, noHostResponse } from "./handler.ts";
import {
  acceptConnections,
  acceptTlsConnections,
  CertificateError,
  CertificateFiles,
  type CertificatePaths,
} from "./sockets.ts";

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

/** The host in URLs: `localhost` for a wildcard address. */
function shownHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

export type { Handler } from "./handler.ts";

/** A server that says how many connections it has. */
export interface DrainingServer extends RunningServer {
  /** Whether {@link ConnectionLimits} hold; false where the runtime cannot serve single connections. */
  readonly limitsConnections: boolean;
  /** Null where the runtime cannot serve single connections. */
  connections(): ConnectionFigures | null;
}

interface DrainingServerOptions {
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  readonly limits?: ConnectionLimits;
  /** Serves HTTPS with the certificate in these files; null or absent: plain HTTP. */
  readonly certificate?: CertificatePaths | null;
  /** The function that serves HTTP on a connection; null: `Deno.serve` does everything, without limits. */
  readonly serve?: ServeConnection | null;
}

/** A listening server, which does not count its requests. */
type Server = Pick<DrainingServer, "port" | "connections" | "cut"> & { shutdown(): Promise<void> };

/**
 * Serves HTTP until it is drained. The runtime's own `shutdown` breaks off request bodies that are still arriving, so
 * handlers are counted here, and the server is shut down when the last one has responded.
 *
 * @param refuse returns the response to what arrives while the server drains; `Connection: close` is added
 * @throws {CertificateError}
 * @throws Deno.errors.AddrInUse and the other errors of listening
 */
export function drainingServer(options: DrainingServerOptions, handler: Handler, refuse: Handler): DrainingServer {
  const { serve = serveConnection, limits = DEFAULT_CONNECTION_LIMITS } = options;
  let running = 0;
  let draining = false;
  const idle = Promise.withResolvers<void>();
  // Separate from `refused`: the frame of an async function retains the variables of all branches.
  const refused: Handler = async (request, info) => {
    const response = await thenCancelBody(request, () => refuse(request, info));
    response.headers.set("Connection", "close");
    return response;
  };
  const handled: Handler = async (request, info) => {
    running++;
    try {
      return await handler(request, info);
    } finally {
      running--;
      cancelBody(request);
      if (draining && running === 0) idle.resolve();
    }
  };
  const counted: Handler = (request, info) => {
    if (!namesHost(request)) return thenCancelBody(request, noHostResponse);
    return draining ? refused(request, info) : handled(request, info);
  };
  const server = serve ? limitedServer(options, serve, limits, counted) : plainServer(options, counted);
  return {
    port: server.port,
    limitsConnections: serve !== null,
    connections: () => server.connections(),
    async drain() {
      draining = true;
      if (running > 0) await idle.promise;
      await server.shutdown();
    },
    cut: () => server.cut(),
  };
}

function limitedServer(
  { hostname, port, certificate }: DrainingServerOptions,
  serve: ServeConnection,
  limits: ConnectionLimits,
  handler: Handler,
): Server {
  const connections = new Connections(serve, limits, handler);
  const socket = certificate ? acceptTlsConnections({ hostname, port, certificate }, connections) : acceptConnections(
    Deno.listen({ hostname, port }),
    (connection) => connections.add(connection),
    () => connections.count,
  );
  return {
    port: socket.port,
    connections: () => connections.figures,
    async shutdown() {
      socket.close();
      await socket.ended;
      await connections.shutdown();
    },
    cut() {
      socket.close();
      connections.cut();
    },
  };
}

function plainServer({ hostname, port, certificate }: DrainingServerOptions, handler: Handler): Server {
  const cut = new AbortController();
  // Here a new certificate takes effect at the next start.
  const tls = certificate ? new CertificateFiles(certificate).read() : {};
  const server = Deno.serve(
    { hostname, port, ...tls, signal: cut.signal, onListen() {}, onError: faultResponse },
    handler,
  );
  return { port: server.addr.port, connections: () => null, shutdown: () => server.shutdown(), cut: () => cut.abort() };
}
