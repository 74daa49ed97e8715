import { fileURLToPath } from "node:url";

/** How a task of `deno.json` ended, with what it said, standard output and error together. */
export interface TaskEnd {
  readonly code: number;
  readonly output: string;
}

const ROOT = new URL("../", import.meta.url);

/**
 * Runs a task of `deno.json`, with its permissions, on a data folder; `within` is a command that runs the one behind it,
 * `env` further settings.
 */
export async function runTask(
  name: string,
  dataFolder: string,
  args: readonly string[] = [],
  within: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<TaskEnd> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const [program, subcommand, ...words]: string[] = tasks[name].command.split(" ");
  if (program !== "deno") throw new Error(`the task ${name} does not run deno`);
  const task = [Deno.execPath(), subcommand, "--config", "deno.json", ...words, ...args];
  const [command, ...behind] = [...within, ...task];
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: behind,
    cwd: fileURLToPath(ROOT),
    env: { DATA_DIR: dataFolder, NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, output: text(stdout) + text(stderr) };
}
