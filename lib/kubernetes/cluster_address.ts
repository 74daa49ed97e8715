import { existsSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { delimiter } from "node:path";
import { tlsTrust } from "@/lib/http/upstream/upstream_client.ts";
import { ConfigError } from "@/lib/std/start_errors.ts";
import { type ClusterEntry, connect, type ConnectionOptions, type StreamingConnection } from "./connection.ts";
import { ownKubeconfig, SERVICE_ACCOUNT_TOKEN } from "./own_credentials.ts";

/** Where the cluster is and how it is entered. */
export type ClusterAddress =
  /** A server that needs no credentials, such as one behind `kubectl proxy`. */
  | { readonly kind: "server"; readonly url: string }
  /** The value of `KUBECONFIG`: a file, or several joined as in PATH. */
  | { readonly kind: "kubeconfig"; readonly path: string }
  /** A kubeconfig itself. */
  | { readonly kind: "content"; readonly text: string }
  /** The pod's service account, else the user's own `~/.kube/config`. */
  | { readonly kind: "default" };

export interface ClusterOptions extends ConnectionOptions {
  /** Authorities (PEM) to trust beside the runtime's, where the configuration names none for the cluster. */
  readonly caCerts?: readonly string[];
}

/**
 * A connection to the cluster at an address. No request is sent yet.
 *
 * @throws {ConfigError} when the address leads to no usable configuration
 */
export async function clusterConnection(
  address: ClusterAddress,
  options: ClusterOptions,
): Promise<StreamingConnection> {
  return connect(await entry(address, options.caCerts), options);
}

async function entry(address: ClusterAddress, caCerts: ClusterOptions["caCerts"]): Promise<ClusterEntry> {
  if (address.kind === "server") return openServer(address.url, caCerts);
  const isContent = address.kind === "content";
  const paths = address.kind === "kubeconfig" ? existing(address.path) : isContent ? null : ownFiles();
  // The client takes half a second and 80 MB to load, which only those pay who need its credentials.
  const { contentEntry, kubeconfigEntry, serviceAccountEntry } = await import("./kubeconfig.ts");
  try {
    if (isContent) return contentEntry(address.text, caCerts);
    return paths ? kubeconfigEntry(paths, caCerts) : serviceAccountEntry(caCerts);
  } catch {
    // The reader's own message quotes lines of the file, and those may be tokens.
    const variable = isContent ? "KUBECONFIG_CONTENT" : "KUBECONFIG";
    throw new ConfigError(variable, "is no kubeconfig with a current context, a server and a user");
  }
}

function openServer(server: string, caCerts: ClusterOptions["caCerts"]): ClusterEntry {
  const agent = server.startsWith("https:") ? new HttpsAgent(tlsTrust(caCerts)) : new HttpAgent();
  return { server, credentials: () => Promise.resolve({ agent, headers: {} }) };
}

function existing(list: string): string[] {
  const paths = list.split(delimiter).filter((path) => path !== "");
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new ConfigError("KUBECONFIG", `there is no file ${missing}`);
  return paths;
}

/** Null in a pod, which has a service account instead. */
function ownFiles(): string[] | null {
  if (existsSync(SERVICE_ACCOUNT_TOKEN)) return null;
  const own = ownKubeconfig(Deno.env.get("HOME") || Deno.env.get("USERPROFILE"));
  if (own !== null && existsSync(own)) return [own];
  throw new ConfigError("KUBECONFIG", "no cluster is known: set a kubeconfig, run in a pod, or set EMBEDDED=on");
}
