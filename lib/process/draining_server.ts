/** Answers a request of a server on a TCP port. */
export type Handler = (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Response | Promise<Response>;

/** A server that can end without breaking off what it is doing. */
export interface DrainingServer {
  readonly port: number;
  /** Hands new requests to `refuse`, and resolves when those under way, bodies included, have ended. */
  drain(): Promise<void>;
  /** Breaks off what is under way: bodies end, signals abort, and {@link drain} waits for what handlers then tidy up. */
  cut(): void;
}

/**
 * Serves HTTP until it is drained. The runtime's own `shutdown` breaks off request bodies that are still arriving, so
 * handlers are counted here, and the server is shut down when the last one has answered.
 *
 * @param refuse answers what arrives while the server drains; the client is told to close its connection
 * @throws Deno.errors.AddrInUse and the other errors of listening
 */
export function drainingServer(
  options: { hostname: string; port: number },
  handler: Handler,
  refuse: Handler,
): DrainingServer {
  let running = 0;
  let draining = false;
  const idle = Promise.withResolvers<void>();
  const cut = new AbortController();
  const server = Deno.serve({ ...options, signal: cut.signal, onListen() {} }, async (request, info) => {
    if (draining) {
      const refused = await refuse(request, info);
      refused.headers.set("Connection", "close");
      return refused;
    }
    running++;
    try {
      return await handler(request, info);
    } finally {
      running--;
      if (draining && running === 0) idle.resolve();
    }
  });
  return {
    port: server.addr.port,
    async drain() {
      draining = true;
      if (running > 0) await idle.promise;
      await server.shutdown();
    },
    cut: () => cut.abort(),
  };
}
