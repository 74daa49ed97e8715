import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const UNKNOWN = "--no-such-argument";

interface Ended {
  readonly code: number;
  readonly errors: string;
}

async function run(command: string, env: Record<string, string> = {}): Promise<Ended> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: command.split(" ").slice(1),
    cwd: ROOT,
    env: { DATA_DIR: "/nonexistent", NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, errors: new TextDecoder().decode(stderr) };
}

/** The command of each task that runs a program of the project, and those of CONTRIBUTING.md and docs/operations.md. */
function programs(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));
  const commands = Object.values<{ command: string }>(tasks).map(({ command }) => command);
  const text = ["CONTRIBUTING.md", "docs/operations.md"].map((page) => Deno.readTextFileSync(`${ROOT}${page}`)).join();
  const listed = text.match(/\bdeno run [^`\n]*(?:(?:tools|bench)\/\w+\.tsx?|main\.ts tasks)/g) ?? [];
  const trials = ["crash", "faults", "siege", "soak", "overload"].map((name) => `deno run bench/${name}.ts`);
  return [...commands.filter((command) => /^deno run [^&]*\.tsx?\b[^&]*$/.test(command)), ...trials, ...listed];
}

Deno.test("tools: every task and tool reads its arguments by a function that refuses those that it does not know", () => {
  const found = programs();
  assert.ok(found.length >= 25, `${found.length} programs`);
  for (const command of found) {
    const [program] = /\S+\.tsx?\b/.exec(command) ?? assert.fail(command);
    // The two ends of a start have their own, which are run below.
    if (["main.ts", "launch.ts"].includes(program)) continue;
    const text = Deno.readTextFileSync(`${ROOT}${program}`);
    assert.match(text, /\b(?:toolArguments|refuseArguments)\(/, command);
  }
});

Deno.test("tools: what would do nothing, or something else than it is asked for, is refused", async () => {
  const bench = "deno run --config deno.test.json -A bench/";
  const tool = "deno run --config deno.test.json -A tools/";
  const commands: [command: string, problem: RegExp, env?: Record<string, string>][] = [
    [`${bench}crash.ts 0`, /^KILLS: '0' is not a number of at least 1/],
    [`${bench}mod.ts uploads`, /^UPLOAD_FILES: '0'/, { UPLOAD_FILES: "0" }],
    [`${tool}catalogue.tsx ${UNKNOWN}`, new RegExp(`'${UNKNOWN}'`)],
    [`${tool}run_tests.ts unit`, /^Unexpected argument 'unit'/],
    ["deno run -A main.ts verify /some/folder", /^Unknown argument '\/some\/folder'/],
    [`deno run --no-prompt --allow-run launch.ts ${UNKNOWN}`, new RegExp(`'${UNKNOWN}'`)],
    ["deno run -A main.ts verifi", /^Unknown argument 'verifi'/],
  ];
  const work = commands.values();
  await Promise.all([1, 2].map(async () => {
    for (const [command, problem, env] of work) {
      const { code, errors } = await run(command, env);
      assert.match(errors, problem, command);
      assert.equal(code, 2, command);
    }
  }));
});

Deno.test("tools: every program of tools/ is a task or a line of CONTRIBUTING.md", () => {
  const listed = ["CONTRIBUTING.md", "deno.json", ".ci/run"].map((path) => Deno.readTextFileSync(`${ROOT}${path}`))
    .join();
  const programs = ["tools", "tools/deploy"].flatMap((folder) =>
    [...Deno.readDirSync(`${ROOT}${folder}`)].map(({ name }) => `${folder}/${name}`)
  ).filter((path) =>
    /\.tsx?$/.test(path) && /^\s*(?:const .* = )?toolArguments\(/m.test(Deno.readTextFileSync(`${ROOT}${path}`))
  );
  assert.ok(programs.length >= 10, programs.join());
  assert.deepEqual(programs.filter((path) => !listed.includes(path)), []);
});
