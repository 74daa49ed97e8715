import { resolve } from "node:path";
import { ConfigError, diskFiles, readConfig } from "@/lib/config/mod.ts";
import { PermissionError, permissionFlags, type Permissions } from "@/lib/process/permission_flags.ts";
import { builder, buildFolder, PROJECT_FOLDER } from "@/lib/site/built_site.ts";
import { serverPermissions } from "./server_permissions.ts";

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
const MALLOC = {
  MALLOC_TRIM_THRESHOLD_: "1048576",
  MALLOC_MMAP_THRESHOLD_: "262144",
  MALLOC_ARENA_MAX: "2",
};

/** What starts the process again when it changes, in development. */
const WATCHED = ["compose", "embedded", "lib", "routes", "components", "islands", "locales"];

/** Flags of the launcher. */
const FLAGS = ["--dev", "--of-task"];

/** How the server is started. */
export interface ServerCommand {
  /** For the runtime's executable. */
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
  env: Readonly<Record<string, string | undefined>>,
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
