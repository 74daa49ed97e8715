import type { HttpHost } from "@/lib/std/http_host.ts";
import { clusterApi } from "./api.ts";
import { ApiError, errorResponse } from "./api_status.ts";
import { Simulator, type SimulatorOptions } from "./simulator.ts";

export interface EmbeddedClusterOptions extends SimulatorOptions {
  readonly http: HttpHost;
  /** A loopback address; 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** How often watches get a bookmark, in milliseconds; a minute when left out. */
  readonly bookmarkEveryMs?: number;
  /** Called when files of the past cannot be written; it fails the start by throwing. The start fails without it. */
  readonly onUnwritten?: (error: unknown) => void;
}

export interface EmbeddedCluster {
  /** Origin of the Kubernetes API, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Runs the samples; paused until `run` or `step`. */
  readonly simulator: Simulator;
  /** A kubeconfig for this cluster, in JSON, which is valid YAML. */
  kubeconfig(): string;
  /** Stops the simulator, closes open connections and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts a cluster of sample campaigns: a Kubernetes API on a loopback port over a simulator whose clock stands at `now`.
 * The states of finished volumes are written before it resolves; the other files of the past, and those whose write
 * failed, follow while it runs. The API takes plain HTTP without credentials, so that any local process may use it; it
 * accepts only loopback Host names (else 421) and no requests of web pages (`Origin`: 403).
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const simulator = new Simulator(options);
  // Each volume that finished in the past has its progress then.
  await simulator.outbox.drain(["live", "states"]).catch((error) => {
    if (!options.onUnwritten) throw error;
    options.onUnwritten(error);
  });
  const { host = "127.0.0.1", port = 0 } = options;
  let address = "";
  const api = clusterApi(simulator.store, { ...options, bodyReader: options.http.bodyReader, address: () => address });
  const handler = async (request: Request) => {
    try {
      const error = foreignError(request);
      return error ? errorResponse(error) : await api(request);
    } catch {
      return errorResponse(new ApiError(500, "InternalError", "the embedded cluster failed"));
    }
  };
  const server = options.http.listen({ hostname: host, port }, handler, handler);
  address = `${host.includes(":") ? `[${host}]` : host}:${server.port}`;
  const url = `http://${address}`;
  return {
    url,
    port: server.port,
    simulator,
    kubeconfig: () => kubeconfig(url, options.namespace),
    close() {
      simulator.stop();
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

function kubeconfig(server: string, namespace: string): string {
  const name = "stackroom-embedded";
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      // client-node rejects plain HTTP unless TLS verification is switched off.
      clusters: [{ name, cluster: { server, "insecure-skip-tls-verify": true } }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name, namespace } }],
      "current-context": name,
    },
    null,
    2,
  );
}
