import { serveCluster } from "./http_server.ts";
import { Simulator, type SimulatorOptions } from "./simulator.ts";

export interface EmbeddedClusterOptions extends SimulatorOptions {
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
 * failed, follow while it runs.
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const simulator = new Simulator(options);
  await simulator.writeStates().catch((error) => {
    if (!options.onUnwritten) throw error;
    options.onUnwritten(error);
  });
  const { host, port, bookmarkEveryMs } = options;
  const server = serveCluster({ store: simulator.store, host, port, bookmarkEveryMs });
  return {
    url: server.url,
    port: server.port,
    simulator,
    kubeconfig: () => kubeconfig(server.url, options.namespace),
    close() {
      simulator.stop();
      return server.close();
    },
  };
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
