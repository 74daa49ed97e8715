import { Buffer } from "node:buffer";
import { Agent } from "node:http";
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { tlsTrust } from "@/lib/http/upstream/upstream_client.ts";
import type { ClusterEntry } from "./connection.ts";

/** Authorities (PEM) to trust beside the runtime's, where a configuration names none for its cluster. */
type MoreAuthorities = readonly string[] | undefined;

/**
 * The cluster of the current context of kubeconfig files, merged as kubectl merges them. The Kubernetes client reads
 * them and takes care of tokens, token files, client certificates, plugins and proxies.
 *
 * @throws whatever is wrong with them; the message may quote secrets
 */
export function kubeconfigEntry(paths: readonly string[], authorities: MoreAuthorities): ClusterEntry {
  const [first, ...others] = paths.map((path) => {
    const config = new KubeConfig();
    config.loadFromFile(path);
    return config;
  });
  for (const other of others) first.mergeConfig(other, first.getCurrentContext() !== undefined);
  return entryOf(first, authorities);
}

/** The same of a kubeconfig's text. @throws whatever is wrong with it; the message may quote secrets */
export function contentEntry(text: string, authorities: MoreAuthorities): ClusterEntry {
  const config = new KubeConfig();
  config.loadFromString(text);
  return entryOf(config, authorities);
}

/** The cluster that this process is a pod of. */
export function serviceAccountEntry(authorities: MoreAuthorities): ClusterEntry {
  const config = new KubeConfig();
  config.loadFromCluster();
  return entryOf(config, authorities);
}

function entryOf(config: KubeConfig, authorities: MoreAuthorities): ClusterEntry {
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
      if (given.agent instanceof Agent) trust(given.agent, given, authorities);
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(given.headers ?? {})) headers[name] = String(value);
      const auth = given.auth ?? (headers.Authorization ? null : userInfo(server));
      if (auth) headers.Authorization = `Basic ${Buffer.from(auth).toString("base64")}`;
      return { agent: given.agent, headers };
    },
  };
}

/** User name and password in a server's URL, which count where the user has no other credentials. */
function userInfo(server: string): string | null {
  const { username, password } = new URL(server);
  return username === "" ? null : decodeURIComponent(`${username}:${password}`);
}

/** The client makes its agent itself, and has no option for authorities beside the runtime's. */
function trust(agent: ClientAgent, tls: RequestOptions, authorities: MoreAuthorities): void {
  const { ca, cert, key, pfx, passphrase } = tls;
  if (!ca) Object.assign(agent.options ?? {}, tlsTrust(authorities, { cert, key, pfx, passphrase }));
  // The connection to a proxy is a request of its own.
  Object.assign(agent.proxyRequestOptions ?? {}, tlsTrust(authorities));
}

/** What the client's agents have in common, with and without a proxy. */
type ClientAgent = Agent & {
  /** Of every connection to the server. */
  readonly options?: object;
  /** Of every connection to the proxy. */
  readonly proxyRequestOptions?: object;
};
