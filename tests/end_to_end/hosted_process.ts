import { fileURLToPath } from "node:url";
import { keptEnvironment } from "@/tests/application.ts";

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
