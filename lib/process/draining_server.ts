import { type ServeConnection, serveConnection } from "@/lib/runtime/serve_connection.ts";
import { cancelBody, thenCancelBody } from "@/lib/std/body_reader.ts";
import { countRequest } from "@/lib/std/request_count.ts";
import { acceptConnections } from "./accept_connections.ts";
import { CertificateFiles, type CertificatePaths } from "./certificate_files.ts";
import {
  type ConnectionFigures,
  type ConnectionLimits,
  Connections,
  DEFAULT_CONNECTION_LIMITS,
} from "./connections.ts";
import { faultResponse, type Handler } from "./handler.ts";
import { namesHost, noHostResponse } from "./host_header.ts";
import { acceptTlsConnections } from "./tls_socket.ts";

export type { Handler } from "./handler.ts";

/** A server that can end without breaking off what it is doing. */
export interface DrainingServer {
  readonly port: number;
  /** Whether {@link ConnectionLimits} hold; false where the runtime cannot serve single connections. */
  readonly limitsConnections: boolean;
  /** Null where the runtime cannot serve single connections. */
  connections(): ConnectionFigures | null;
  /** Hands new requests to `refuse`, and resolves when those under way, bodies included, have ended. */
  drain(): Promise<void>;
  /** Breaks off what is under way: bodies end, signals abort, and {@link drain} waits until the handlers have cleaned up. */
  cut(): void;
}

interface DrainingServerOptions {
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  readonly limits?: ConnectionLimits;
  /** Serves HTTPS with the certificate in these files; null or absent: plain HTTP. */
  readonly certificate?: CertificatePaths | null;
  /** What serves HTTP on a connection; null: `Deno.serve` does everything, without limits. */
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
  // Apart from what is refused: the frame of an async function holds what all of its branches use.
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
    countRequest();
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
