import { fileURLToPath } from "node:url";

/** A benchmark server in a separate process. */
export interface ServerProcess {
  pid: number;
  /** The first thing that it printed: where it is. */
  line: string;
  stop(): Promise<void>;
}

/** Starts a module that prints a line once it listens. It ends with this process at the latest. */
export async function startServerProcess(module: string, args: readonly string[]): Promise<ServerProcess> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", "deno.test.json", "-A", module, ...args],
    cwd: fileURLToPath(new URL("../", import.meta.url)),
    stdout: "piped",
    stdin: "null",
  }).spawn();
  const cut = () => child.kill("SIGKILL");
  globalThis.addEventListener("unload", cut);
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error(`${module} ended instead of listening`);
  return {
    pid: child.pid,
    line: new TextDecoder().decode(value).trim(),
    async stop() {
      globalThis.removeEventListener("unload", cut);
      child.kill("SIGTERM");
      await child.status;
    },
  };
}
