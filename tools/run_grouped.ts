/**
 * Runs tests in groups that share a worker each, so many groups at the same time:
 * `run_grouped.ts --files=N --folders=PATH,PATH [--ignore=PATH,PATH] [--jobs=N] [flags of deno test]`.
 */
import { groupedArgs, jobsOn, testGroups } from "./test_groups.ts";

const ROOT = new URL("../", import.meta.url);
const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM"];

/** The paths of all test files below a folder, relative to the project. */
function* testFiles(folder: string, ignored: readonly string[]): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(`${folder}/`, ROOT))) {
    const path = `${folder}/${name}`;
    if (isDirectory && !ignored.includes(path)) yield* testFiles(path, ignored);
    else if (/_test\.tsx?$/.test(name)) yield path;
  }
}

const options = groupedArgs(Deno.args);
if ("problem" in options) {
  console.error(options.problem);
  Deno.exit(2);
}
const paths = options.folders.flatMap((folder) => [...testFiles(folder, options.ignored)]);
if (paths.length === 0) {
  console.error(`no tests below ${options.folders.join(", ")}`);
  Deno.exit(1);
}
const files = paths.map((path) => ({ path, text: Deno.readTextFileSync(new URL(path, ROOT)) }));
const modules = await Deno.makeTempDir({ prefix: "stackroom-tests-" });
try {
  const groups = testGroups(files, options.maxFiles).map(({ name, paths }) => {
    const module = `${modules}/${name.replaceAll("/", "_")}_test.ts`;
    Deno.writeTextFileSync(module, paths.map((path) => `import "${new URL(path, ROOT)}";\n`).join(""));
    return module;
  });
  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "--config", "deno.test.json", "-A", "--no-check", "--parallel", ...options.flags, ...groups],
    cwd: ROOT,
    env: { DENO_JOBS: jobsOn(navigator.hardwareConcurrency, options.jobs) },
    stdin: "null",
  }).spawn();
  for (const signal of SIGNALS) Deno.addSignalListener(signal, () => tests.kill(signal));
  Deno.exitCode = (await tests.status).code;
} finally {
  Deno.removeSync(modules, { recursive: true });
}
