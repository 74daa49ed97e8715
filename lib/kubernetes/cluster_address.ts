import { Buffer } from "node:buffer";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type RequestOptions } from "node:https";
import { delimiter } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { tlsTrust } from "@/lib/http/upstream.ts";
import { ConfigError } from "@/lib/std/start_errors.ts";
import { type ClusterEntry, connect, type ConnectionOptions, type StreamingConnection } from "./connection.ts";

/** How to reach the cluster. Null: as a pod of it, by the pod's service account. */
export type ClusterAddress =
  /** A server that needs no credentials, such as one behind `kubectl proxy`. */
  | { readonly url: string }
  /** The value of `KUBECONFIG`: a file, or several joined as in PATH. */
  | { readonly path: string }
  /** The content of a kubeconfig. */
  | { readonly text: string }
  | null;

export interface ClusterOptions extends ConnectionOptions {
  /** Authorities (PEM) to trust beside the runtime's, where the configuration names none for the cluster. */
  readonly caCerts?: readonly string[];
}

/**
 * Connects to the cluster at an address. Sends no request yet.
 *
 * @throws {ConfigError} for a kubeconfig that cannot be used
 */
export async function clusterConnection(
  address: ClusterAddress,
  options: ClusterOptions,
): Promise<StreamingConnection> {
  const { caCerts } = options;
  if (address === null || !("url" in address)) return connect(await configuredEntry(address, caCerts), options);
  const server = address.url;
  const agent = server.startsWith("https:") ? new HttpsAgent(tlsTrust(caCerts)) : new HttpAgent();
  return connect({ server, credentials: () => Promise.resolve({ agent, headers: {} }) }, options);
}

async function configuredEntry(
  source: Exclude<ClusterAddress, { readonly url: string }>,
  caCerts: ClusterOptions["caCerts"],
): Promise<ClusterEntry> {
  try {
    return clusterEntry(await loadedConfig(source), caCerts);
  } catch {
    // The parser's own message quotes lines of the file, which may be tokens.
    const variable = source && "text" in source ? "KUBECONFIG_CONTENT" : "KUBECONFIG";
    throw new ConfigError(variable, "is no kubeconfig with a current context, a server and a user");
  }
}

/**
 * Files are merged as kubectl merges them.
 *
 * @throws any error; its message may quote secrets
 */
async function loadedConfig(source: { readonly path: string } | { readonly text: string } | null): Promise<KubeConfig> {
  // The client takes half a second and 80 MB to load, so it is loaded only for its credentials.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (source === null) config.loadFromCluster();
  else if ("text" in source) config.loadFromString(source.text);
  else {
    const [first, ...others] = source.path.split(delimiter).filter((path) => path !== "");
    config.loadFromFile(first);
    for (const path of others) {
      const other = new KubeConfig();
      other.loadFromFile(path);
      config.mergeConfig(other, config.getCurrentContext() !== undefined);
    }
  }
  return config;
}

/**
 * The current context's cluster. The Kubernetes client handles tokens, token files, client certificates, plugins and
 * proxies.
 *
 * @param authorities as {@link ClusterOptions.caCerts}
 * @throws TypeError without a server or a user
 */
export function clusterEntry(config: KubeConfig, authorities: ClusterOptions["caCerts"]): ClusterEntry {
  const server = config.getCurrentCluster()?.server;
  if (!server || !URL.canParse(server)) throw new TypeError("no server");
  // The client rejects plain HTTP unless verification is off, though there is nothing to verify.
  config.clusters = config.clusters.map((one) =>
    one.server.startsWith("http:") ? { ...one, skipTLSVerify: true } : one
  );
  if (!config.getCurrentUser()) throw new TypeError("no user");
  return {
    server,
    async credentials() {
      const given: RequestOptions = {};
      await config.applyToHTTPSOptions(given);
      if (given.agent instanceof HttpAgent) trust(given.agent, given, authorities);
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(given.headers ?? {})) headers[name] = String(value);
      const auth = given.auth ?? (headers.Authorization ? null : userInfo(server));
      if (auth) headers.Authorization = `Basic ${Buffer.from(auth).toString("base64")}`;
      return { agent: given.agent, headers };
    },
  };
}

/** User name and password in a server's URL, used if the user has no other credentials. */
function userInfo(server: string): string | null {
  const { username, password } = new URL(server);
  return username === "" ? null : decodeURIComponent(`${username}:${password}`);
}

/** The client creates its agent itself and has no option for authorities beside the runtime's. */
function trust(agent: ClientAgent, tls: RequestOptions, authorities: ClusterOptions["caCerts"]): void {
  const { ca, cert, key, pfx, passphrase } = tls;
  if (!ca) Object.assign(agent.options ?? {}, tlsTrust(authorities, { cert, key, pfx, passphrase }));
  // The connection to a proxy is a separate request.
  Object.assign(agent.proxyRequestOptions ?? {}, tlsTrust(authorities));
}

/** An agent of the client, with or without a proxy. */
type ClientAgent = HttpAgent & {
  /** Options of every connection to the server. */
  readonly options?: object;
  /** Options of every connection to the proxy. */
  readonly proxyRequestOptions?: object;
};
