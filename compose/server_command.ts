import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Config, ConfigError, diskFiles, type Files, readConfig, type TextSource } from "@/lib/config/mod.ts";
import { type Environment, settingNames } from "@/lib/config/reading.ts";
import { LOOPBACK_NAMES } from "@/lib/config/setting_values.ts";
import type { KubeconfigAccess } from "@/lib/kubernetes/kubeconfig_access.ts";
import { SERVICE_ACCOUNT_FOLDER } from "@/lib/config/campaign_settings.ts";
import { PermissionError, permissionFlags, type Permissions } from "@/lib/process/deno.ts";
import { builder, buildFolder, PROJECT_FOLDER } from "@/lib/site/site.ts";
import { SPAN_VARIABLES } from "@/lib/operations/tracing.ts";

/** Keep V8's heap small: docs/architecture.md says what that costs and gives. */
const V8_FLAGS = `--v8-flags=${
  [
    "--max-semi-space-size=8",
    "--heap-growing-percent=60",
    // How soon an idle heap is collected and returned to the system, in ms.
    "--memory-reducer-delay-ms=1000",
    "--gc-memory-reducer-start-delay-ms=1000",
  ].join(",")
}`;

/**
 * Has glibc return freed memory to the system (mallopt(3)): most of the resident memory under load is freed buffers of
 * bodies. docs/architecture.md has the measurements.
 */
const MALLOC = { MALLOC_TRIM_THRESHOLD_: "1048576", MALLOC_MMAP_THRESHOLD_: "262144", MALLOC_ARENA_MAX: "2" };

/** Folders whose changes start the process again, in development. */
const WATCHED = ["compose", "embedded", "lib", "routes", "components", "islands", "locales"];

/** Flags of the launcher. */
const FLAGS = ["--dev", "--of-task"];

/** How the server is started. */
export interface ServerCommand {
  /** Arguments of the runtime's executable. */
  readonly args: readonly string[];
  /** Environment variables beside those of the launcher; a variable that is set there is left out. */
  readonly env: Readonly<Record<string, string>>;
  /** Lines for the operator: what the server may do beyond the usual. */
  readonly notes: readonly string[];
}

interface ServerCommandOptions {
  /** The program, relative to the project's folder. */
  readonly main?: string;
  /** The server starts again when a source changes, and builds the site itself. */
  readonly dev?: boolean;
}

/**
 * The command that starts the server with the permissions that these settings ask for.
 *
 * @throws {ConfigError} for settings that end the start
 * @throws {PermissionError}
 */
export async function serverCommand(
  env: Environment,
  { main = "main.ts", dev = false }: ServerCommandOptions = {},
): Promise<ServerCommand> {
  const files = { ...diskFiles, realPath };
  const permissions = await serverPermissions(readConfig(env, files), env, files);
  const program = resolve(PROJECT_FOLDER, main);
  const notes = permissions.run.map((command) =>
    `KUBECONFIG: the server may run ${JSON.stringify(command)}, which gives its cluster's user credentials`
  );
  const malloc = Object.fromEntries(Object.entries(MALLOC).filter(([name]) => env[name] === undefined));
  if (!dev) return { args: ["run", V8_FLAGS, ...permissionFlags(permissions), program], env: malloc, notes };
  const watch = `--watch=${WATCHED.map((folder) => `${PROJECT_FOLDER}/${folder}`).join(",")}`;
  const flags = permissionFlags(withBuild(permissions));
  return { args: ["run", watch, "--no-clear-screen", ...flags, program, "--dev"], env: malloc, notes };
}

/** Development builds the site in the server's process. */
function withBuild(permissions: Permissions): Permissions {
  return {
    ...permissions,
    env: "all",
    read: [...permissions.read, PROJECT_FOLDER],
    write: [...permissions.write, buildFolder()],
    run: [...permissions.run, builder()],
  };
}

function realPath(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null;
  }
}

/** The code of threads: the runtime requires the right to read a module that a thread is started with. */
const THREAD_CODE = ["compose", "embedded", "lib"];

/** Variables that say where a process is: its user's folder, and the cluster it is a pod of. */
const SURROUNDINGS = ["HOME", "USERPROFILE", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];

const REDIS_PORT = 6379;

/** The facts about the disk that permissions depend on. */
interface Disk extends Files {
  /** Where links lead; null where nothing is. */
  realPath(path: string): string | null;
}

/**
 * The permissions of the server under these settings: the paths that they name, and no others. Paths stay as they were given:
 * what a link leads to may change while the server runs, as mounted secrets do.
 *
 * @param env the environment of the settings
 */
export async function serverPermissions(config: Config, env: Environment, disk: Disk): Promise<Permissions> {
  const { gateway, web, results, embedded, server, audit, notifications } = config;
  const hasFolder = embedded.store || embedded.cluster;
  const written = [
    hasFolder ? config.dataFolder : null,
    audit.folder,
    // A rotated file is created anew in its folder.
    audit.file === null || audit.file === "-" ? null : dirname(audit.file),
  ].filter((path) => path !== null).flatMap((path) => withRealPath(resolve(path), disk));
  const texts = [
    config.ca,
    gateway?.store?.identity.kind === "shared" ? gateway.store.identity.users : null,
    gateway?.fixitySchedules,
    notifications?.webhooks?.secrets,
    notifications?.mail?.login?.password,
    results?.sessionKey,
    web?.storage?.sessionKey,
  ];
  const named = [
    embedded.administrators?.system.path,
    embedded.administrators?.tenant?.password.path,
    server.certificate?.certFile,
    server.certificate?.keyFile,
    ...texts.map((source) => source && "path" in source ? source.path : null),
  ].filter((path) => typeof path === "string").map((path) => resolve(path));
  const cluster = await clusterAccess(web?.kubeconfig ?? null, disk);
  return {
    read: [
      ...(hasFolder ? THREAD_CODE.map((folder) => join(PROJECT_FOLDER, folder)) : []),
      ...written,
      ...named,
      ...(gateway ? apiPageFolders() : []),
      ...(web?.staticFolder
        ? [web.staticFolder, buildFolder()].flatMap((path) => staticFolder(resolve(path), disk))
        : []),
      ...(!embedded.cluster && (results || (web && !web.siteOnly)) ? [SERVICE_ACCOUNT_FOLDER] : []),
      ...cluster.files,
    ],
    write: written,
    // A program that prints credentials needs the environment that it would have in a shell.
    env: cluster.commands.length > 0 ? "all" : settingNames(env).concat(SURROUNDINGS, SPAN_VARIABLES),
    net: isSelfContained(config)
      ? [
        ...LOOPBACK_NAMES,
        ...[server.host, embedded.host, ...(server.metrics ? [server.metrics.host] : [])].map(bracketed),
        ...sharedState(config),
        ...receivers(config),
      ]
      : "all",
    run: cluster.commands,
    // How much room the disk of the data folder has.
    sys: hasFolder ? ["statfs"] : [],
  };
}

/** The files and programs that the kubeconfig needs. */
async function clusterAccess(source: TextSource | null, files: Files): Promise<KubeconfigAccess> {
  if (source === null) return { files: [], commands: [] };
  // Loaded only here: most starts have no kubeconfig to read.
  const { kubeconfigAccess } = await import("@/lib/kubernetes/kubeconfig_access.ts");
  return kubeconfigAccess(source, files.read);
}

/**
 * A folder by its name and by the one that links on the way lead to: the runtime requires the latter when a file that is
 * open is looked at. The folder, and some above it, may be missing before the first start.
 */
function withRealPath(path: string, { realPath }: Disk): string[] {
  let there = path;
  while (realPath(there) === null && dirname(there) !== there) there = dirname(there);
  const real = join(realPath(there) ?? there, relative(there, path));
  return real === path ? [path] : [path, real];
}

/** Files of a folder are opened under their real paths, so that no link leads out of it. */
function staticFolder(path: string, { realPath }: Disk): string[] {
  const real = realPath(path);
  return real === null ? [path] : [path, real];
}

/** Where the API page's own files lie, and those of its package. */
function apiPageFolders(): string[] {
  return [
    join(PROJECT_FOLDER, "routes/docs"),
    dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/swagger-ui.css"))),
  ];
}

/** Whether the process talks to nothing but itself and the server of shared state. */
function isSelfContained({ gateway, web, results, embedded }: Config): boolean {
  return (gateway === null || gateway.store === null) && (results === null || results.store === null) &&
    (web === null || web.siteOnly || embedded.cluster) && !web?.resultsProxy && !web?.progressBase &&
    !web?.storage?.gatewayUrl;
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

if (import.meta.main) {
  try {
    const unknown = Deno.args.find((word) => word.startsWith("-") && !FLAGS.includes(word));
    if (unknown !== undefined) {
      console.error(`Unknown argument '${unknown}': settings are environment variables (docs/configuration.md)`);
      Deno.exit(2);
    }
    const dev = Deno.args.includes("--dev");
    const main = Deno.args.find((word) => !word.startsWith("--"));
    const { notes, ...command } = await serverCommand(Deno.env.toObject(), { main, dev });
    for (const note of notes) console.error(note);
    console.log(JSON.stringify(command));
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof PermissionError)) throw error;
    console.error(error.message);
    Deno.exit(1);
  }
}
