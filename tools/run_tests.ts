/**
 * `deno task test`: runs all tests but the long ones, in groups that share a worker each, several groups at a time. Its
 * last line is "N passed, N failed".
 */
import { textIfExists } from "@/lib/std/files.ts";
import { numberOf, refuseArguments, toolArguments } from "./arguments.ts";
import { ringOf, RINGS, testGroups } from "./test_groups.ts";
import { countTests } from "./test_report.ts";

const ROOT = new URL("../", import.meta.url);
const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM"];
/** Groups at a time beyond the processors: many tests wait for processes that they start. */
const JOBS_BESIDE = 3;

/** The paths of all test files below a folder, relative to the project. */
function* testFiles(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(`${folder}/`, ROOT))) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* testFiles(path);
    else if (/_test\.tsx?$/.test(name)) yield path;
  }
}

const usage = `deno task test [--jobs=N] [--filter=TEXT] [${RINGS.join("|")}]`;
const { options, words: [wanted] } = toolArguments(usage, { options: ["jobs", "filter"], words: 1 });
if (wanted !== undefined && !RINGS.some((ring) => ring === wanted)) {
  refuseArguments(`Unexpected argument '${wanted}'`, usage);
}
const jobs = numberOf("--jobs", options.jobs, navigator.hardwareConcurrency + JOBS_BESIDE);
const files = ["tests", "embedded/tests"].flatMap((folder) => [...testFiles(folder)])
  .filter((path) => wanted === undefined || ringOf(path) === wanted)
  .map((path) => ({ path, text: Deno.readTextFileSync(new URL(path, ROOT)) }));
const folder = await Deno.makeTempDir({ prefix: "stackroom-tests-" });
const report = `${folder}/report.xml`;
try {
  const groups = testGroups(files).map(({ name, paths }) => {
    const module = `${folder}/${name.replaceAll("/", "_")}_test.ts`;
    Deno.writeTextFileSync(module, paths.map((path) => `import "${new URL(path, ROOT)}";\n`).join(""));
    return module;
  });
  const flags = ["-A", "--no-check", "--parallel", "--preload=tools/suite_seed.ts", `--junit-path=${report}`];
  if (options.filter !== undefined) flags.push(`--filter=${options.filter}`);
  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "--config", "deno.test.json", ...flags, ...groups],
    cwd: ROOT,
    env: { DENO_JOBS: String(jobs) },
    stdin: "null",
  }).spawn();
  for (const signal of SIGNALS) Deno.addSignalListener(signal, () => tests.kill(signal));
  const { code } = await tests.status;
  const { passed, failed } = countTests(textIfExists(report), code);
  console.log(`${passed} passed, ${failed} failed`);
  Deno.exitCode = failed > 0 ? Math.max(code, 1) : code;
} finally {
  Deno.removeSync(folder, { recursive: true });
}
