/** A program that a task needs and that cannot be found or fetched; the message says which, and what helps. */
export class MissingTool extends Error {
  override readonly name = "MissingTool";
}

/**
 * Does work that needs a folder of its own, which is removed at its end. A failure is printed, and ends the program
 * with status 1.
 */
export async function inTemporaryFolder(name: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: `stackroom-${name}-` });
  try {
    await work(folder);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.error(error.message);
    Deno.exitCode = 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The full path of a program on the PATH; null when there is none. */
export function onPath(program: string): string | null {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const path = `${folder}/${program}`;
    try {
      if (Deno.statSync(path).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable)) throw error;
    }
  }
  return null;
}

/**
 * A program of a package on PyPI: the one on the PATH, else one that is installed into a virtual environment below
 * `folder`.
 *
 * @param requirement such as `schemathesis==4.32.5`
 * @throws {MissingTool} without Python, and without a registry to install from
 */
export async function pythonTool(program: string, requirement: string, folder: string): Promise<string> {
  const present = onPath(program);
  if (present) return present;
  const python = onPath("python3");
  if (!python) throw new MissingTool(`python3 is missing: install Python 3.10 or later, or put ${program} on the PATH`);
  const environment = `${folder}/${program}`;
  console.log(`Installing ${requirement} …`);
  const hint = `${requirement} cannot be installed: put ${program} on the PATH`;
  await run(python, ["-m", "venv", environment]).catch((error) => {
    throw new MissingTool(`${hint}, or install Python's module venv`, { cause: error });
  });
  await run(`${environment}/bin/pip`, ["install", "--quiet", requirement]).catch((error) => {
    throw new MissingTool(hint, { cause: error });
  });
  return `${environment}/bin/${program}`;
}

/**
 * Runs a program to its end, its output shown as it comes.
 *
 * @throws Error naming it when it fails, without its arguments: tokens may be among them
 */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const { success, code } = await new Deno.Command(program, { args: [...args], ...options, stdin: "null" }).spawn()
    .status;
  if (!success) throw new Error(`${program} ended with ${code}`);
}
