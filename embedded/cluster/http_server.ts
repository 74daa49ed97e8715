import { LOCAL_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { drainingServer } from "@/lib/process/draining_server.ts";
import { clusterApi } from "./api.ts";
import { ApiError, errorResponse } from "./api_status.ts";
import type { ClusterStore } from "./store.ts";

interface ClusterServerOptions {
  readonly store: ClusterStore;
  /** A loopback address; 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** How often watches get a bookmark, in milliseconds; a minute when left out. */
  readonly bookmarkEveryMs?: number;
}

interface ClusterServer {
  /** Origin without a trailing slash: the `server` of a kubeconfig. */
  readonly url: string;
  readonly port: number;
  /** Closes open connections and frees the port. */
  close(): Promise<void>;
}

/**
 * Serves a store as a Kubernetes API over plain HTTP, without credentials. Any local process may use it, so it accepts only
 * loopback Host names (else 421) and no requests of web pages (`Origin`: 403).
 */
export function serveCluster(options: ClusterServerOptions): ClusterServer {
  const { store, host = "127.0.0.1", port = 0 } = options;
  let address = "";
  const api = clusterApi(store, () => address, options.bookmarkEveryMs);
  const handler = async (request: Request) => {
    try {
      const error = foreignError(request);
      return error ? errorResponse(error) : await api(request);
    } catch {
      return errorResponse(new ApiError(500, "InternalError", "the embedded cluster failed"));
    }
  };
  const server = drainingServer({ hostname: host, port, limits: LOCAL_CONNECTION_LIMITS }, handler, handler);
  const shown = host.includes(":") ? `[${host}]` : host;
  address = `${shown}:${server.port}`;
  return {
    url: `http://${address}`,
    port: server.port,
    close() {
      server.cut();
      return server.drain();
    },
  };
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

function foreignError(request: Request): ApiError | null {
  const name = (request.headers.get("host") ?? "").replace(/:\d*$/, "").toLowerCase();
  if (!LOOPBACK_NAMES.includes(name)) {
    return new ApiError(421, "Misdirected", "this cluster answers only under loopback names");
  }
  if (request.headers.has("origin")) return new ApiError(403, "Forbidden", "this cluster does not serve web pages");
  return null;
}
