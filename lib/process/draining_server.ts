import { thenCancelBody } from "@/lib/std/cancel_body.ts";
import { sleep } from "@/lib/std/sleep.ts";
import { type ConnectionLimits, Connections, DEFAULT_CONNECTION_LIMITS } from "./connections.ts";
import { faultResponse, type Handler, type ServeConnection, serveConnection } from "./serve_connection.ts";

export type { Handler } from "./serve_connection.ts";

/** A server that can end without breaking off what it is doing. */
export interface DrainingServer {
  readonly port: number;
  /** Whether {@link ConnectionLimits} hold; false where the runtime cannot serve single connections. */
  readonly limitsConnections: boolean;
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
  /** What serves HTTP on a connection; null: `Deno.serve` does everything, without limits. */
  readonly serve?: ServeConnection | null;
}

/** A listening server, which does not count its requests. */
type Server = Pick<DrainingServer, "port" | "cut"> & { shutdown(): Promise<void> };

/**
 * Serves HTTP until it is drained. The runtime's own `shutdown` breaks off request bodies that are still arriving, so
 * handlers are counted here, and the server is shut down when the last one has responded.
 *
 * @param refuse returns the response to what arrives while the server drains; `Connection: close` is added
 * @throws Deno.errors.AddrInUse and the other errors of listening
 */
export function drainingServer(options: DrainingServerOptions, handler: Handler, refuse: Handler): DrainingServer {
  const { serve = serveConnection, limits = DEFAULT_CONNECTION_LIMITS } = options;
  let running = 0;
  let draining = false;
  const idle = Promise.withResolvers<void>();
  const counted: Handler = async (request, info) => {
    if (draining) {
      const refused = await thenCancelBody(request, () => refuse(request, info));
      refused.headers.set("Connection", "close");
      return refused;
    }
    running++;
    try {
      return await thenCancelBody(request, () => handler(request, info));
    } finally {
      running--;
      if (draining && running === 0) idle.resolve();
    }
  };
  const server = serve ? limitedServer(options, serve, limits, counted) : plainServer(options, counted);
  return {
    port: server.port,
    limitsConnections: serve !== null,
    async drain() {
      draining = true;
      if (running > 0) await idle.promise;
      await server.shutdown();
    },
    cut: () => server.cut(),
  };
}

/** How long after an error the next connection is accepted, ms: without descriptors each try would fail at once. */
const AFTER_ERROR_MS = 100;

function limitedServer(
  { hostname, port }: DrainingServerOptions,
  serve: ServeConnection,
  limits: ConnectionLimits,
  handler: Handler,
): Server {
  const listener = Deno.listen({ hostname, port });
  const connections = new Connections(serve, limits, handler);
  let closed = false;
  const accepting = (async () => {
    let failing = false;
    while (!closed) {
      try {
        connections.add(await listener.accept());
        failing = false;
      } catch (error) {
        if (closed) return;
        if (!failing) console.error(`connections: none can be accepted (${error}), ${connections.count} are open`);
        failing = true;
        await sleep(AFTER_ERROR_MS);
      }
    }
  })();
  const close = () => {
    if (closed) return;
    closed = true;
    listener.close();
  };
  return {
    port: listener.addr.port,
    async shutdown() {
      close();
      await accepting;
      await connections.shutdown();
    },
    cut() {
      close();
      connections.cut();
    },
  };
}

function plainServer({ hostname, port }: DrainingServerOptions, handler: Handler): Server {
  const cut = new AbortController();
  const server = Deno.serve(
    { hostname, port, signal: cut.signal, onListen() {}, onError: faultResponse },
    handler,
  );
  return { port: server.addr.port, shutdown: () => server.shutdown(), cut: () => cut.abort() };
}
