import { addDefaultHeaders } from "@/lib/http/default_headers.ts";
import { redactText } from "@/lib/http/redact.ts";
import type { RawTarget } from "@/lib/http/raw_path.ts";
import type { AcceptedConnection } from "./accept_connections.ts";

/** What a server knows of a request besides the request itself. */
export interface HandlerInfo {
  readonly remoteAddr: Deno.NetAddr;
  /** Settles when the response is sent to its last byte, or its client is gone; absent for a HEAD. */
  readonly completed?: Promise<void>;
  /** The target as it came; absent where the URL of the request has not been split. */
  readonly target?: RawTarget;
  /** Ends the connection at once; absent where the server cannot. */
  breakOff?(): void;
}

/** Handles a request of a server on a TCP port. */
export type Handler = (request: Request, info: HandlerInfo) => Response | Promise<Response>;

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

/** Serves HTTP on a connection that was accepted. */
export type ServeConnection = (connection: AcceptedConnection, handler: RuntimeHandler) => ServedConnection;

/** What the function of the runtime takes for an AbortSignal: it only ever registers one listener. */
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
 * cost two to three times the processor time. Only this file knows of it, and a test fails on a
 * runtime without it.
 */
export const serveConnection: ServeConnection | null = connectionServer(runtimeInternals());

/** Creates a {@link ServeConnection} from the runtime's internals; null where they lack it. */
export function connectionServer(internals: unknown): ServeConnection | null {
  if (typeof internals !== "object" || internals === null || !("serveHttpOnConnection" in internals)) return null;
  const { serveHttpOnConnection } = internals;
  if (typeof serveHttpOnConnection !== "function" || serveHttpOnConnection.length !== 5) return null;
  const serve = serveHttpOnConnection as ServeHttpOnConnection;
  return function serveConnection(connection, handler) {
    let abort = () => {};
    // Not an AbortController: aborting throws when the connection has just ended, and what a listener of an event throws
    // ends the process.
    const signal: AbortTarget = {
      addEventListener(_type, onAbort) {
        abort = onAbort;
      },
    };
    const { finished, shutdown } = serve(connection, signal, handler, faultResponse, () => {});
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

/**
 * The response where a handler threw, which is a fault beyond all code that renders errors. It says as little as
 * theirs; the stack goes to standard error without secrets.
 */
export function faultResponse(error: unknown): Response {
  console.error(redactText(error instanceof Error ? error.stack ?? error.message : String(error)));
  const response = new Response("Internal Server Error", { status: 500 });
  addDefaultHeaders(response.headers);
  return response;
}
