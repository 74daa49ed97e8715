import { PUBLIC_API_ONLY } from "./public_api.ts";

type AcceptedConnection = Deno.TcpConn | Deno.TlsConn;

/** How the runtime calls what handles its requests. */
type RuntimeHandler = (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Response | Promise<Response>;

/** HTTP on one connection. */
export interface ServedConnection {
  /** Resolves when the connection has ended, however it did. */
  readonly finished: Promise<void>;
  /** Ends the connection when the response under way is sent; a connection without a request ends at once. */
  shutdown(): Promise<void>;
  /** Breaks the connection off, and with it what is under way. */
  cut(): void;
}

/** Serves HTTP on a connection that was accepted. `onError` makes the response where a handler throws. */
export type ServeConnection = (
  connection: AcceptedConnection,
  handler: RuntimeHandler,
  onError: (error: unknown) => Response,
) => ServedConnection;

/** Stands for an AbortSignal: the function of the runtime only ever registers one listener. */
interface AbortTarget {
  addEventListener(type: "abort", onAbort: () => void): void;
}

type ServeHttpOnConnection = (
  connection: AcceptedConnection,
  signal: AbortTarget,
  handler: RuntimeHandler,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => { readonly finished: Promise<void>; shutdown(): Promise<void> };

/**
 * The part of `Deno.serve` that serves HTTP on one connection, or null where this runtime has none.
 *
 * `Deno.serve` gives no access to its connections: it has no timeouts (denoland/deno#3515, #34172) and no limits. The
 * function that it runs for each of them is not public, but reachable; node:http's server, which has timeouts, would
 * cost two to three times the processor time. A test fails on a runtime without it; there `Deno.serve` does everything.
 */
export const serveConnection: ServeConnection | null = PUBLIC_API_ONLY ? null : connectionServer(runtimeInternals());

/** Creates a {@link ServeConnection} from the runtime's internals; null where they lack it. */
export function connectionServer(internals: unknown): ServeConnection | null {
  if (typeof internals !== "object" || internals === null || !("serveHttpOnConnection" in internals)) return null;
  const { serveHttpOnConnection } = internals;
  if (typeof serveHttpOnConnection !== "function" || serveHttpOnConnection.length !== 5) return null;
  const serve = serveHttpOnConnection as ServeHttpOnConnection;
  return function serveConnection(connection, handler, onError) {
    let abort = () => {};
    // Not an AbortController: aborting throws when the connection has just ended, and what a listener of an event throws
    // ends the process.
    const signal: AbortTarget = {
      addEventListener(_type, onAbort) {
        abort = onAbort;
      },
    };
    const { finished, shutdown } = serve(connection, signal, handler, onError, () => {});
    return {
      // A connection that its client breaks is no error of the server.
      finished: finished.catch(() => {}),
      shutdown: () => shutdown().catch(() => {}),
      cut() {
        try {
          abort();
        } catch (error) {
          if (!(error instanceof Deno.errors.BadResource)) throw error;
        }
      },
    };
  };
}

function runtimeInternals(): unknown {
  const key: unknown = Reflect.get(Deno, "internal");
  return typeof key === "symbol" ? Reflect.get(Deno, key) : null;
}
