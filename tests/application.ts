import { fileURLToPath } from "node:url";
import { type ServerCommand, serverCommand } from "@/compose/server_command.ts";
import { PermissionError } from "@/lib/process/deno.ts";
import { siteAssets } from "@/lib/site/build.ts";
import { ConfigError } from "@/lib/std/start_errors.ts";

/** The real application in a process of its own, or in several. */
export interface Application extends AsyncDisposable {
  /** The site's address as the start printed it, with its trailing slash. */
  readonly site: string;
  readonly pid: number;
  readonly dataFolder: string;
  /** What it has written so far, standard output and error together. */
  output(): string;
  /** Ends it as an operator would, by SIGTERM, and answers how it ended. Removes a data folder made here. */
  stop(): Promise<Deno.CommandStatus>;
  /** Ends it as a power cut would, by SIGKILL. The data folder stays. */
  kill(): Promise<void>;
}

export interface ApplicationOptions {
  /** Settings; nothing of the test's own environment but what Deno needs is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that outlives the process; without it, a temporary one is made. */
  readonly dataFolder?: string;
  /** The program, relative to the project's folder. */
  readonly main?: string;
  /** A command that runs the one behind it, as `nsenter` does: it must become the application, not start it. */
  readonly within?: readonly string[];
}

/** Settings of the pages and the API of the storage alone. It starts in half the time, and writes no sample results. */
export const STORAGE_ONLY = { EMBEDDED: "store", ROLES: "gateway,web", CAMPAIGN_WEB_SITE_ONLY: "1" };

/** Settings of a gateway alone in front of a store that runs elsewhere. */
export function gatewayOf(endpoint: string): Record<string, string> {
  return {
    EMBEDDED: "off",
    ROLES: "gateway",
    HOST: "127.0.0.1",
    API_SECRET_KEY: "a key of these tests, long enough to sign with",
    HCP_HOST: "127.0.0.1",
    S3_ENDPOINT_URL: endpoint,
  };
}

/** The start failed: its output is the message. */
export class StartError extends Error {
  override readonly name = "StartError";

  constructor(readonly output: string, readonly code: number | null) {
    super(code === null ? `no address within ${START_MS} ms:\n${output}` : `the start ended with ${code}:\n${output}`);
  }
}

/** After these a test fails: more than a machine under load needs. */
const START_MS = 90_000;
const STOP_MS = 90_000;
const ROOT = new URL("../", import.meta.url);
/** The results role alone has no site: its address is followed by the path that it serves. */
const SITE_LINE = /^(?:Site\s+(?<site>https?:\/\/\S+)|Results\s+(?<results>https?:\/\/\S+\/)results\/)\s*$/m;

/** Variables without which Deno, or the packages it fetches, may not be found. */
const KEPT = [
  "PATH",
  "HOME",
  "TMPDIR",
  "DENO_DIR",
  "XDG_CACHE_HOME",
  "DENO_CERT",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "NPM_CONFIG_REGISTRY",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
];

/** What the runtime says, and not the application, where another start has its lock. */
const LOCK_LINE = "Blocking waiting for file lock on node_modules directory\n";

/** What a start says that ends because another process holds a port that the data folder was given before. */
const STORE_PORT_TAKEN = /^Port \d+ of the embedded store .* is taken/m;

/** How long a port of the data folder that another process holds is waited for, ms: stores of other tests end. */
const STORE_PORT_MS = 60_000;

type Start = (options: ApplicationOptions) => Promise<Application>;

let startIt: Start = startProcess;

/** Has the tests of this worker that only use an application use one that `start` returns. To be called before them. */
export function startInstead(start: Start): void {
  startIt = start;
}

/** Starts the application that a test uses. @throws {StartError} */
export function startApplication(options: ApplicationOptions = {}): Promise<Application> {
  return startIt(options);
}

/**
 * Starts the application in a process, on a free port, with the configuration and the permissions of `deno task start`.
 * Where another process holds a port that the data folder was given before, it is started again until the port is free.
 *
 * @throws {StartError} where it ends, or says no address, instead of starting.
 */
export async function startProcess(options: ApplicationOptions = {}): Promise<Application> {
  const deadline = Date.now() + STORE_PORT_MS;
  for (;;) {
    try {
      return await startOnce(options);
    } catch (error) {
      const isTaken = error instanceof StartError && STORE_PORT_TAKEN.test(error.output);
      if (!isTaken || Date.now() > deadline) throw error;
    }
  }
}

async function startOnce(options: ApplicationOptions): Promise<Application> {
  const dataFolder = options.dataFolder ?? await Deno.makeTempDir({ prefix: "stackroom-test-" });
  const removeFolder = async () => {
    if (options.dataFolder === undefined) await Deno.remove(dataFolder, { recursive: true });
  };
  const env = { ...keptEnvironment(), NO_COLOR: "1", PORT: "0", DATA_DIR: dataFolder, ...options.env };
  const start = await serverStart(env, options.main).catch(async (error) => {
    await removeFolder();
    throw error;
  });
  const [command, ...args] = [...options.within ?? [], Deno.execPath(), ...start.args];
  const child = new Deno.Command(command, {
    args,
    cwd: fileURLToPath(ROOT),
    clearEnv: true,
    env: { ...start.env, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const cut = () => child.kill("SIGKILL");
  globalThis.addEventListener("unload", cut);

  let output = "";
  let isStarted = false;
  const started = Promise.withResolvers<string>();
  const take = (text: string) => {
    output += text.replaceAll(LOCK_LINE, "");
    // Looked for until it is there: a long log is not gone through again with each of its lines.
    const found = isStarted ? undefined : output.match(SITE_LINE)?.groups;
    const site = found?.site ?? found?.results;
    if (site === undefined) return;
    isStarted = true;
    started.resolve(site);
  };
  const ended = Promise.all([child.status, collect(child.stdout, take), collect(child.stderr, take)]).then(
    ([status]) => {
      globalThis.removeEventListener("unload", cut);
      started.reject(new StartError(output, status.code));
      return status;
    },
  );

  const deadline = setTimeout(() => started.reject(new StartError(output, null)), START_MS);
  const site = await started.promise.catch(async (error) => {
    if (error.code === null) cut();
    await ended;
    await removeFolder();
    throw error;
  }).finally(() => clearTimeout(deadline));

  const stop = async () => {
    child.kill("SIGTERM");
    const late = setTimeout(cut, STOP_MS);
    const status = await ended.finally(() => clearTimeout(late));
    await removeFolder();
    return status;
  };
  return {
    site,
    pid: child.pid,
    dataFolder,
    output: () => output,
    stop,
    async kill() {
      cut();
      await ended;
    },
    [Symbol.asyncDispose]: () => stop().then(() => {}),
  };
}

let built: Promise<unknown> | null = null;

/**
 * What the launcher starts the server with: tests run with no more rights than the operator's process has.
 *
 * @throws {StartError} for settings that end the start
 */
async function serverStart(
  settings: Record<string, string>,
  main: string | undefined,
): Promise<Pick<ServerCommand, "args" | "env">> {
  await (built ??= siteAssets());
  try {
    const { args: [run, ...args], env } = await serverCommand(settings, { main });
    // Without it, a program of a test would be started with the configuration of its own folder, or of one above it.
    return { args: [run, `--config=${fileURLToPath(new URL("deno.json", ROOT))}`, ...args], env };
  } catch (error) {
    if (error instanceof ConfigError || error instanceof PermissionError) throw new StartError(`${error.message}\n`, 1);
    throw error;
  }
}

/** What a process of a test gets of the test's own environment. */
export function keptEnvironment(): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
}
