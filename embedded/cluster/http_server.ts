import { LOCAL_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { drainingServer } from "@/lib/process/draining_server.ts";
import { clusterApi } from "./api.ts";
import { ApiRefusal, refusalResponse } from "./api_status.ts";
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
  /** Cuts what is under way and frees the port. */
  close(): Promise<void>;
}

/**
 * Serves a store as a Kubernetes API over plain HTTP, without credentials. It is open to whoever reaches the port, so it
 * answers only under loopback Host names (else 421) and nothing that a web page sent (`Origin`: 403).
 */
export function serveCluster(options: ClusterServerOptions): ClusterServer {
  const { store, host = "127.0.0.1", port = 0 } = options;
  let address = "";
  const api = clusterApi(store, () => address, options.bookmarkEveryMs);
  const handler = async (request: Request) => {
    try {
      const refusal = foreign(request);
      return refusal ? refusalResponse(refusal) : await api(request);
    } catch {
      return refusalResponse(new ApiRefusal(500, "InternalError", "the embedded cluster failed"));
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

function foreign(request: Request): ApiRefusal | null {
  const name = (request.headers.get("host") ?? "").replace(/:\d*$/, "").toLowerCase();
  if (!LOOPBACK_NAMES.includes(name)) {
    return new ApiRefusal(421, "Misdirected", "this cluster answers only under loopback names");
  }
  if (request.headers.has("origin")) return new ApiRefusal(403, "Forbidden", "this cluster does not serve web pages");
  return null;
}
