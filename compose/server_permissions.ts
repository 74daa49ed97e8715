import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config, Files, SessionKeySource, TextSource } from "@/lib/config/mod.ts";
import { settingNames } from "@/lib/config/read_settings.ts";
import type { KubeconfigAccess } from "@/lib/kubernetes/kubeconfig_access.ts";
import { ownKubeconfig, SERVICE_ACCOUNT_FOLDER } from "@/lib/kubernetes/own_credentials.ts";
import type { Permissions } from "@/lib/process/permission_flags.ts";
import { buildFolder, PROJECT_FOLDER } from "@/lib/site/built_site.ts";
import { SPAN_VARIABLES } from "@/lib/tracing/own_spans.ts";

/** The code of threads: the runtime requires the right to read a module that a thread is started with. */
const THREAD_CODE = ["compose", "embedded", "lib"];

/** Variables that say where a process is: its user's folder, and the cluster it is a pod of. */
const SURROUNDINGS = ["HOME", "USERPROFILE", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];

const REDIS_PORT = 6379;

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * What the server may do under these settings: the paths that they name, and no others. Paths stay as they were given:
 * what a link leads to may change while the server runs, as mounted secrets do.
 *
 * @param env the environment of the settings
 */
export async function serverPermissions(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  files: Files & { realPath(path: string): string | null },
): Promise<Permissions> {
  const { gateway, web, results, embedded } = config;
  const hasFolder = embedded.store || embedded.cluster;
  const data = hasFolder ? dataFolders(resolve(config.dataFolder), files) : [];
  const audit = auditPlaces(config, files);
  const cluster = await clusterAccess(config, env, files);
  const read = [
    ...(hasFolder ? THREAD_CODE.map((folder) => join(PROJECT_FOLDER, folder)) : []),
    ...data,
    ...present(embedded.administrators?.system.path ?? null),
    ...present(embedded.administrators?.tenant?.password.path ?? null),
    ...present(pathOf(config.ca)),
    ...present(config.server.certificate?.certFile ?? null),
    ...present(config.server.certificate?.keyFile ?? null),
    ...present(gateway?.store?.identity.kind === "shared" ? pathOf(gateway.store.identity.users) : null),
    ...present(pathOf(gateway?.fixitySchedules)),
    ...(gateway ? [apiPageFolder()] : []),
    ...audit,
    ...present(pathOf(config.notifications?.webhooks?.secrets)),
    ...present(pathOf(config.notifications?.mail?.login?.password)),
    ...present(pathOf(results?.sessionKey)),
    ...present(pathOf(web?.storage?.sessionKey)),
    ...(web?.staticFolder ? staticFolders(web.staticFolder, files) : []),
    ...(!embedded.cluster && (results || (web && !web.siteOnly)) ? [SERVICE_ACCOUNT_FOLDER] : []),
    ...cluster.files,
  ];
  return {
    read,
    write: [...data, ...audit],
    // A program that prints credentials needs the environment that it would have in a shell.
    env: cluster.commands.length > 0 ? "all" : settingNames(env).concat(SURROUNDINGS, SPAN_VARIABLES),
    net: isSelfContained(config)
      ? [
        ...LOOPBACK,
        bracketed(config.server.host),
        bracketed(embedded.host),
        ...metricsHost(config),
        ...sharedState(config),
        ...receivers(config),
      ]
      : "all",
    run: cluster.commands,
    // How much room the disk of the data folder has.
    sys: hasFolder ? ["statfs"] : [],
  };
}

/** Where the audit trail is kept outside of the data folder. A rotated file is created anew in its folder. */
function auditPlaces({ audit: { folder, file } }: Config, files: { realPath(path: string): string | null }): string[] {
  return [...(folder === null ? [] : [folder]), ...(file === null || file === "-" ? [] : [dirname(file)])]
    .flatMap((path) => dataFolders(resolve(path), files));
}

/** The own files of the cluster's entry; nothing in a pod, and beside an embedded cluster. */
async function clusterAccess(
  { web, embedded }: Config,
  env: Readonly<Record<string, string | undefined>>,
  files: Files,
): Promise<KubeconfigAccess> {
  if (!web || web.siteOnly || embedded.cluster) return { files: [], commands: [] };
  const own = ownKubeconfig(env.HOME || env.USERPROFILE);
  const source = web.kubeconfig ?? (own === null ? null : { path: own });
  if (source === null) return { files: [], commands: [] };
  // Loaded only here: most starts have no kubeconfig to read.
  const { kubeconfigAccess } = await import("@/lib/kubernetes/kubeconfig_access.ts");
  return kubeconfigAccess(source, files.read);
}

/**
 * The data folder by its name and by the one that links on the way lead to: the runtime requires the latter when a file
 * that is open is looked at. The folder, and some above it, may be missing before the first start.
 */
function dataFolders(path: string, { realPath }: { realPath(path: string): string | null }): string[] {
  let there = path;
  while (realPath(there) === null && dirname(there) !== there) there = dirname(there);
  const real = join(realPath(there) ?? there, relative(there, path));
  return real === path ? [path] : [path, real];
}

/** Files of a folder are opened under their real paths, so that no link leads out of it. */
function staticFolders(folder: string, { realPath }: { realPath(path: string): string | null }): string[] {
  return [folder, buildFolder()].flatMap((path) => [resolve(path), ...present(realPath(path))]);
}

/** Where the API page's package lies. */
function apiPageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/swagger-ui.css")));
}

/** Whether the process talks to nothing but itself and the server of shared state. */
function isSelfContained({ gateway, web, results, embedded }: Config): boolean {
  return (gateway === null || gateway.store === null) && (results === null || results.store === null) &&
    (web === null || web.siteOnly || embedded.cluster) && !web?.resultsProxy && !web?.progressBase &&
    !web?.storage?.gatewayUrl;
}

function metricsHost({ server: { metrics } }: Config): string[] {
  return metrics ? [bracketed(metrics.host)] : [];
}

/** Where notifications are sent, with the ports. */
function receivers({ notifications }: Config): string[] {
  const webhooks = (notifications?.webhooks?.urls ?? []).map((url) => {
    const { hostname, port, protocol } = new URL(url);
    return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  });
  const server = notifications?.mail?.server;
  return server ? [...webhooks, `${bracketed(server.host)}:${server.port}`] : webhooks;
}

/** The server in which replicas share state, with its port. */
function sharedState(config: Config): string[] {
  const redisUrl = config.redisUrl ?? config.notifications?.redisUrl ?? null;
  if (redisUrl === null) return [];
  const { hostname, port } = new URL(redisUrl);
  return [`${hostname}:${port || REDIS_PORT}`];
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The file of a setting that may also be given as a value. */
function pathOf(source: TextSource | SessionKeySource | null | undefined): string | null {
  return source && "path" in source ? source.path : null;
}

function present(path: string | null): string[] {
  return path === null ? [] : [resolve(path)];
}
