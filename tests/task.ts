import { fileURLToPath } from "node:url";

/** How a task of `deno.json` ended, with what it said, standard output and error together. */
export interface TaskEnd {
  readonly code: number;
  readonly output: string;
}

const ROOT = new URL("../", import.meta.url);

/**
 * Runs a task of `deno.json`, or a command of docs/operations.md, with its permissions, on a data folder; `within` is a command that runs the one behind it,
 * `env` further settings.
 */
export async function runTask(
  name: string,
  dataFolder: string,
  args: readonly string[] = [],
  within: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<TaskEnd> {
  const [program, subcommand, ...words] = (await commandOf(name)).split(" ");
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

async function commandOf(name: string): Promise<string> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  if (Object.hasOwn(tasks, name)) return tasks[name].command;
  const page = await Deno.readTextFile(new URL("docs/operations.md", ROOT));
  const documented = new RegExp(`^deno run .*main\\.ts ${name}$`, "m").exec(page);
  if (!documented) throw new Error(`neither a task nor a command of docs/operations.md: ${name}`);
  return documented[0];
}
