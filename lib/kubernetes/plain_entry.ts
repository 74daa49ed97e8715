import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type AgentOptions } from "node:https";
import { tlsTrust } from "@/lib/http/upstream/tls_trust.ts";
import type { ClusterEntry } from "./connection.ts";
import { currentContext, type KubeconfigSource, type Named, pathIn } from "./kubeconfig_access.ts";
import { SERVICE_ACCOUNT_FOLDER } from "./own_credentials.ts";

/** Members of a kubeconfig's cluster and user whose meaning is plain: strings, but for {@link INSECURE}. */
const CLUSTER_MEMBERS = ["server", "certificate-authority", "certificate-authority-data", "tls-server-name"];
const USER_MEMBERS = [
  ...["token", "username", "password"],
  ...["client-certificate", "client-certificate-data", "client-key", "client-key-data"],
];
const INSECURE = "insecure-skip-tls-verify";
/** What other programs note there. */
const EXTENSIONS = "extensions";

/**
 * The cluster of a single kubeconfig whose user has nothing but a token, a password or a certificate: most of them, for
 * which the Kubernetes client, which is large, need not be loaded. What it says means the same to both.
 *
 * @param authorities (PEM) to trust beside the runtime's, where the configuration names none
 * @returns null where it has more in it, or is wrong
 * @throws where a file that it names cannot be read, when credentials are needed
 */
export function plainEntry(source: KubeconfigSource, authorities?: readonly string[]): ClusterEntry | null {
  const { paths, cluster, user } = currentContext(source, textOf);
  if (paths.length > 1 || !cluster || !user || !isPlainCluster(cluster) || !isPlainUser(user)) return null;
  const server = text(cluster, "server") ?? "";
  const url = URL.parse(server);
  if (!url) return null;
  const isVerified = cluster.content[INSECURE] !== true;
  return {
    server,
    async credentials() {
      const ca = await fileOrData(cluster, "certificate-authority");
      const client = { cert: await fileOrData(user, "client-certificate"), key: await fileOrData(user, "client-key") };
      const options: AgentOptions = {
        ...client,
        ...(ca ? { ca } : tlsTrust(authorities, client)),
        ...(isVerified ? {} : { rejectUnauthorized: false }),
        servername: text(cluster, "tls-server-name"),
      };
      const agent = url.protocol === "http:" ? new HttpAgent() : new HttpsAgent(options);
      return { agent, headers: authorization(server, user) };
    },
  };
}

/**
 * The cluster that this process is a pod of. Its token is renewed, so each reading of the credentials reads it again.
 *
 * @throws {TypeError} in a pod that was not told where its cluster is
 */
export function serviceAccountEntry(folder = SERVICE_ACCOUNT_FOLDER): ClusterEntry {
  const host = Deno.env.get("KUBERNETES_SERVICE_HOST") ?? "";
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${Deno.env.get("KUBERNETES_SERVICE_PORT") ?? ""}`;
  if (host === "" || !URL.canParse(server)) throw new TypeError("no server");
  return {
    server,
    async credentials() {
      const [ca, token] = await Promise.all([readFile(`${folder}/ca.crt`), readFile(`${folder}/token`, "utf8")]);
      return { agent: new HttpsAgent({ ca }), headers: { Authorization: `Bearer ${token.trim()}` } };
    },
  };
}

/** User name and password in a server's URL, which count where the user has no other credentials. */
export function userInfo(server: string): string | null {
  const { username, password } = new URL(server);
  return username === "" ? null : decodeURIComponent(`${username}:${password}`);
}

export function basicAuthorization(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

function authorization(server: string, user: Named): Readonly<Record<string, string>> {
  const [token, username] = [text(user, "token"), text(user, "username")];
  if (username) return { Authorization: basicAuthorization(`${username}:${text(user, "password")}`) };
  if (token) return { Authorization: `Bearer ${token}` };
  const basic = userInfo(server);
  return basic === null ? {} : { Authorization: basicAuthorization(basic) };
}

function isPlainCluster({ content }: Named): boolean {
  return Object.entries(content).every(([name, value]) =>
    name === EXTENSIONS || (name === INSECURE ? typeof value === "boolean" : isText(CLUSTER_MEMBERS, name, value))
  );
}

function isPlainUser({ content }: Named): boolean {
  return Object.entries(content).every(([name, value]) => name === EXTENSIONS || isText(USER_MEMBERS, name, value));
}

function isText(names: readonly string[], name: string, value: unknown): boolean {
  return names.includes(name) && typeof value === "string";
}

function text({ content }: Named, name: string): string | undefined {
  const value = content[name];
  return typeof value === "string" ? value : undefined;
}

/** What a member holds: the file that it names, else the base64 of the member beside it. */
async function fileOrData(entry: Named, name: string): Promise<Buffer | undefined> {
  const path = pathIn(entry, name);
  if (path !== null) return await readFile(path);
  const data = text(entry, `${name}-data`);
  return data ? Buffer.from(data, "base64") : undefined;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
