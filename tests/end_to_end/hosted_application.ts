import { fileURLToPath } from "node:url";
import { type Application, type ApplicationOptions, keptEnvironment, StartError } from "@/tests/application.ts";
import { freePort } from "@/tests/free_port.ts";
import { ROLES, startUpstreams, type Upstreams } from "./upstreams.ts";

/** The same at each start: a login outlives a restart. */
const SESSION_KEY = btoa("s".repeat(32));
/** So often a port is tried. */
const MAX_TRIES = 3;

/**
 * Starts a process with the embedded store and cluster, a Redis, and `hosted.ts` with all roles that knows of them by
 * settings alone. Its `site` and `pid` are those of `hosted.ts`. The store's tenant is that of the results; it is reached
 * as a store of one's own. Stopped, `hosted.ts` ends without a word. A test that has `EMBEDDED` off has upstreams of its
 * own, and gets `hosted.ts` alone.
 *
 * @throws {StartError}
 */
export async function startHosted(options: ApplicationOptions = {}): Promise<Application> {
  for (let tries = 1;; tries++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process has taken the port while the upstreams started: they have its number, so all is started again.
      if (!(error instanceof StartError && error.output.includes("AddrInUse")) || tries === MAX_TRIES) throw error;
    }
  }
}

/** @throws {StartError} */
async function startOnce(options: ApplicationOptions): Promise<Application> {
  const { env = {} } = options;
  const port = freePort();
  if (env.EMBEDDED === "off") return applicationOf(await startHostedProcess(env, port), null);
  const upstreams = await startUpstreams(options, `http://127.0.0.1:${port}/results`);
  try {
    return await applicationOf(await startHostedProcess(await settings(upstreams, env), port), upstreams);
  } catch (error) {
    await upstreams[Symbol.asyncDispose]();
    throw error;
  }
}

/** @throws {StartError} */
async function applicationOf(hosted: HostedProcess, upstreams: Upstreams | null): Promise<Application> {
  if (hosted.site === "") throw new StartError(hosted.output(), await hosted.ended);
  const stop = async () => {
    await hosted.kill();
    const status = await upstreams?.process.stop();
    await upstreams?.[Symbol.asyncDispose]();
    const refused = refusedByRuntime(hosted);
    if (refused.length > 0) throw new Error(`the runtime refused:\n${refused.join("\n")}`);
    return status ?? { success: true, code: 0, signal: null };
  };
  return {
    site: hosted.site,
    pid: hosted.pid,
    dataFolder: upstreams?.process.dataFolder ?? "",
    output: () => (upstreams?.process.output() ?? "") + hosted.output(),
    stop,
    async kill() {
      await hosted.kill();
      await upstreams?.[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => stop().then(() => {}),
  };
}

async function settings(
  { common, ofRole, kubeconfig }: Upstreams,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const isStorageOnly = "CAMPAIGN_WEB_SITE_ONLY" in env;
  const roles = ROLES.filter((role) => role !== "results" || !isStorageOnly);
  const ofRoles: Record<string, string> = Object.assign({}, ...roles.map((role) => ofRole[role]));
  if (!isStorageOnly) ofRoles.KUBECONFIG_CONTENT = await Deno.readTextFile(kubeconfig);
  return { ...common, TRUSTED_HOPS: "0", RESULTS_SESSION_KEY: SESSION_KEY, ...ofRoles };
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/** The application as a host runs it. */
export interface HostedProcess extends AsyncDisposable {
  /** The address where it listens, with its trailing slash; empty where it has ended instead. */
  readonly site: string;
  readonly pid: number;
  /** What it has written so far. */
  output(): string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number>;
  /** Ends it without a word, as a host does. */
  kill(): Promise<void>;
}

/**
 * All that it may do: read its own tree, and use the network and its environment. `--cached-only` has the runtime itself
 * fetch nothing.
 */
const RIGHTS = [
  `--allow-read=${ROOT}`,
  "--allow-net",
  "--allow-env",
  "--deny-write",
  "--deny-run",
  "--deny-sys",
  "--deny-ffi",
  "--no-prompt",
  "--cached-only",
];

/** Runs a command in the project's folder, which it cannot change, whatever its rights are. */
const READ_ONLY = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"`;

/** How the right to mount is had: as root, or as root of a user namespace of one's own. */
const WAYS = [["unshare", "-m"], ["unshare", "-Urm"]];

let within: Promise<readonly string[]> | null = null;

/**
 * Starts `hosted.ts` with the rights that hosts give, on a tree that is read-only where the kernel lets this user mount.
 * It gets its address from the host, and no signal. The site must have been built.
 *
 * @param port of loopback; 0: any free one
 */
export async function startHostedProcess(env: Readonly<Record<string, string>>, port = 0): Promise<HostedProcess> {
  const run = [Deno.execPath(), "run", "--config", "deno.json", ...RIGHTS, "hosted.ts"];
  const [command, ...args] = [...await (within ??= readOnlyTree()), ...run];
  const child = new Deno.Command(command, {
    args,
    cwd: ROOT,
    clearEnv: true,
    env: { ...keptEnvironment(), NO_COLOR: "1", DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const cut = () => child.kill("SIGKILL");
  globalThis.addEventListener("unload", cut);
  let output = "";
  const listening = Promise.withResolvers<string>();
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    let isListening = false;
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      const address = isListening ? undefined : /Listening on (http:\S+)/.exec(output)?.[1];
      if (address === undefined) continue;
      isListening = true;
      listening.resolve(address);
    }
  };
  let hasEnded = false;
  const ended = Promise.all([child.status, collect(child.stdout), collect(child.stderr)]).then(([{ code }]) => {
    hasEnded = true;
    globalThis.removeEventListener("unload", cut);
    return code;
  });
  const kill = async () => {
    if (!hasEnded) cut();
    await ended;
  };
  return {
    site: await Promise.race([listening.promise, ended.then(() => "")]),
    pid: child.pid,
    output: () => output,
    ended,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** The lines about what the runtime refused, of which a handler may have made another error. */
export function refusedByRuntime(hosted: HostedProcess): readonly string[] {
  return hosted.output().split("\n").filter((line) => /NotCapable|Requires \w+ access/.test(line));
}

/** The command that runs another one in a project's folder that is read-only; empty where this user may not mount. */
async function readOnlyTree(): Promise<readonly string[]> {
  for (const way of WAYS) {
    const [command, ...args] = [...way, "sh", "-c", READ_ONLY, ROOT];
    const probe = new Deno.Command(command, { args: [...args, "sh", "-c", "! touch hosted.ts"], stderr: "null" });
    const { success } = await probe.output().catch(() => ({ success: false }));
    if (success) return [command, ...args];
  }
  return [];
}
