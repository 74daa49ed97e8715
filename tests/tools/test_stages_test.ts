import assert from "node:assert/strict";
import { runStages } from "@/tools/run_stages.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";
import { countStage, countStages, failuresOfStages, stageFiles, STAGES } from "@/tools/test_reports.ts";

const ESCAPED = "&lt;failure&gt; in a &lt;testcase&gt;";

function report(...contents: string[]): string {
  const cases = contents.map((content) =>
    `<testcase name="a &gt; ${ESCAPED}" classname="./a_test.ts" time="0.003">\n${content}\n</testcase>`
  );
  return `<testsuites name="deno test"><testsuite name="./a_test.ts">${cases.join("\n")}</testsuite></testsuites>`;
}

const FAILURE = `<failure message="Uncaught ${ESCAPED}">${ESCAPED}\n at a</failure>`;

Deno.test("test reports: passed and failed tests are counted, ignored ones are not", () => {
  assert.deepEqual(countStage({ report: report("", "", "<skipped/>"), code: 0 }), { passed: 2, failed: 0 });
  assert.deepEqual(countStage({ report: report("", FAILURE, "<error/>", ""), code: 1 }), { passed: 2, failed: 2 });
  const closed = `<testsuite><testcase name="a"/><testcase name="b">${FAILURE}</testcase></testsuite>`;
  assert.deepEqual(countStage({ report: closed, code: 1 }), { passed: 1, failed: 1 });
});

Deno.test("test reports: a stage that fails without a failed test counts as one failure", () => {
  const passed = report("", "");
  assert.deepEqual(countStage({ report: passed, code: 1 }), { passed: 2, failed: 1 });
  assert.deepEqual(countStage({ report: passed, code: null }), { passed: 2, failed: 1 });
  assert.deepEqual(countStage({ report: null, code: 0 }), { passed: 0, failed: 1 });
  assert.deepEqual(countStage({ report: report(), code: 0 }), { passed: 0, failed: 1 });
  assert.deepEqual(countStage({ report: report("<skipped/>"), code: 0 }), { passed: 0, failed: 1 });
});

testInFolder(
  "test reports: those of all stages are summed, and what deno test writes is understood",
  async (folder) => {
    const tests = `
    Deno.test("passes", () => {});
    Deno.test("fails <b>", () => { throw new Error("<failure>"); });
    Deno.test.ignore("is ignored", () => {});`;
    await Deno.writeTextFile(`${folder}/a_test.ts`, tests);
    const real = stageFiles(folder, "real");
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-config", "--no-check", `--junit-path=${real.report}`, `${folder}/a_test.ts`],
    }).output();
    await Deno.writeTextFile(real.code, String(code));
    const other = stageFiles(folder, "other");
    await Deno.writeTextFile(other.report, report("", "", `<error message="Cancelled &gt;"/>`));
    await Deno.writeTextFile(other.code, "1");
    const stages = ["real", "other", "missing"];
    assert.deepEqual(countStages(folder, stages), { passed: 3, failed: 3 });
    const [failed, ...others] = failuresOfStages(folder, stages);
    assert.match(failed, /^\[real\] fails <b>: Error: <failure>\n[^]*a_test\.ts:3:/);
    assert.deepEqual(others, [
      "[real] the exit status is 1: its output says what failed outside of tests",
      "[other] a > <failure> in a <testcase>: Cancelled >",
      "[other] the exit status is 1: its output says what failed outside of tests",
      "[missing] the exit status is missing: its output says what failed outside of tests",
    ]);
  },
);

testInFolder(
  "test stages: each runs after one that failed, their lines are whole, and the worst status counts",
  async (folder) => {
    const programs: Record<string, string> = {
      good: `console.log("one\\ntwo"); console.error("three")`,
      bad: `Deno.stdout.writeSync(new TextEncoder().encode("half a line")); Deno.exit(3)`,
      last: `Deno.writeTextFileSync(REPORT, "written"); Deno.exit(2)`,
    };
    const lines: string[] = [];
    const code = await runStages(["bad", "good", "last"], {
      folder,
      args: (stage, report) => ["eval", "--no-config", programs[stage].replace("REPORT", JSON.stringify(report))],
      print: (line) => lines.push(line),
    });
    assert.equal(code, 3);
    assert.deepEqual(lines.sort(), ["[bad] half a line", "[good] one", "[good] three", "[good] two"]);
    const files = Object.keys(programs).map((stage) => stageFiles(folder, stage));
    assert.deepEqual(files.map((file) => Deno.readTextFileSync(file.code)), ["0", "3", "2"]);
    assert.equal(await Deno.readTextFile(files[2].report), "written");
  },
);

testInFolder(
  "test stages: a stage has ended though a process that it left behind holds its output open",
  async (folder) => {
    const program = `
    const child = new Deno.Command("sleep", { args: ["1000"], stdin: "null" }).spawn();
    child.unref();
    Deno.writeTextFileSync("PID", String(child.pid));
    Deno.exit(0);`.replace("PID", `${folder}/pid`);
    const args = () => ["eval", "--no-config", program];
    try {
      assert.equal(await runStages(["leaves"], { folder, args, print() {}, drainMs: 0 }), 0);
    } finally {
      Deno.kill(Number(await Deno.readTextFile(`${folder}/pid`)), "SIGKILL");
    }
  },
);

Deno.test("test stages: each is a task, and together they run every folder of tests but the long ones", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));
  const [units, ...others] = STAGES.map((stage) => String(tasks[`test:${stage}`].command));
  const list = (option: string, command: string) =>
    new RegExp(` --${option}=(\\S+)`).exec(command)?.[1].split(",") ?? [];
  assert.deepEqual(list("folders", units), ["tests", "embedded/tests"]);
  for (const command of [units, ...others]) assert.deepEqual(list("preload", command), ["tools/suite_seed.ts"]);
  const inStages = others.flatMap((command) => list("folders", command));
  assert.deepEqual([...inStages, "tests/long"].sort(), list("ignore", units).sort());
});
