import assert from "node:assert/strict";
import { testInFolder } from "@/tests/test_in_folder.ts";
import { ringOf, testGroups } from "@/tools/test_groups.ts";
import { countTests } from "@/tools/test_report.ts";

testInFolder("test report: what deno test writes is counted, ignored tests are not", async (folder) => {
  const tests = `
    Deno.test("passes", () => {});
    Deno.test("with <testcase> and <failure>", () => {});
    Deno.test("fails <b>", () => { throw new Error("<failure>"); });
    Deno.test.ignore("is ignored", () => {});`;
  await Deno.writeTextFile(`${folder}/a_test.ts`, tests);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-config", "--no-check", `--junit-path=${folder}/report.xml`, `${folder}/a_test.ts`],
  }).output();
  const report = await Deno.readTextFile(`${folder}/report.xml`);
  assert.deepEqual(countTests(report, code), { passed: 2, failed: 1 });
});

Deno.test("test report: a run that fails without a failed test, or runs none, counts as one failure", () => {
  const report = (...cases: string[]) => `<testsuites><testsuite name="a">${cases.join("\n")}</testsuite></testsuites>`;
  const passed = report('<testcase name="a"/>', '<testcase name="b">\n</testcase>');
  assert.deepEqual(countTests(passed, 0), { passed: 2, failed: 0 });
  assert.deepEqual(countTests(passed, 1), { passed: 2, failed: 1 });
  assert.deepEqual(countTests(null, 0), { passed: 0, failed: 1 });
  assert.deepEqual(countTests(report(), 0), { passed: 0, failed: 1 });
  assert.deepEqual(countTests(report('<testcase name="a"><skipped/></testcase>'), 0), { passed: 0, failed: 1 });
});

Deno.test("test groups: every file but the long ones is in one, those that last longest come first", () => {
  const paths = ["lib/s3/a", "routes/b", "browser/c", "end_to_end/d", "long/e"].map((name) => `tests/${name}_test.ts`);
  const groups = testGroups([...paths, "embedded/tests/store/f_test.ts"].map((path) => ({ path, text: "x" })));
  assert.deepEqual(groups.map(({ paths }) => paths.map(ringOf)), [
    ["end_to_end", "end_to_end"],
    ["units", "units", "units"],
  ]);
});
