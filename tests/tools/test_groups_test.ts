import assert from "node:assert/strict";
import { groupedArgs, jobsOn, testGroups } from "@/tools/test_groups.ts";

const file = (path: string, text = "12345") => ({ path: `tests/${path}`, text });
const grouped = (groups: ReturnType<typeof testGroups>) =>
  groups.map(({ name, paths }) => [name, paths.map((path) => path.slice("tests/".length))]);

Deno.test("test groups: files of a folder share a worker, in groups of equal size, the larger ones first", () => {
  const paths = [
    "readme_test.ts",
    "lib/s3/a_test.ts",
    "routes/api/v1/a_test.ts",
    "routes/b_test.ts",
    "routes/cc_test.ts",
  ];
  assert.deepEqual(grouped(testGroups(paths.map((path) => file(path, path)), 2)), [
    ["routes_1", ["routes/api/v1/a_test.ts", "routes/b_test.ts"]],
    ["routes_2", ["routes/cc_test.ts"]],
    ["lib/s3", ["lib/s3/a_test.ts"]],
    ["others", ["readme_test.ts"]],
  ]);
});

Deno.test("test groups: a file that runs the tests of others or starts replicas has a worker of its own", () => {
  const files = [
    file("end_to_end/a_test.ts"),
    file("end_to_end/b_test.ts", "startInstead(startReplicated);"),
    file("end_to_end/c_test.ts"),
    file("end_to_end/d_test.ts", 'import { type Replica, startReplicated } from "./replicated_application.ts";'),
  ];
  assert.deepEqual(grouped(testGroups(files, 9)), [
    ["end_to_end/d", ["end_to_end/d_test.ts"]],
    ["end_to_end/b", ["end_to_end/b_test.ts"]],
    ["end_to_end", ["end_to_end/a_test.ts", "end_to_end/c_test.ts"]],
  ]);
});

Deno.test("test groups: a file that says that it waits comes before larger ones", () => {
  const files = [
    file("browser/a_test.ts", "x".repeat(9_000)),
    file("end_to_end/b_test.ts", "// Waits for 60 s: a mail comes once a minute.\nconst MS = 60_000;\n"),
    file("servers/c_test.ts", "// It waits for 60 s.\n"),
  ];
  assert.deepEqual(testGroups(files, 9).map(({ name }) => name), ["end_to_end", "browser", "servers"]);
});

Deno.test("test groups: so many run at a time as there are processors, as stated, or so many more", () => {
  assert.deepEqual([undefined, "3", "+1"].map((jobs) => jobsOn(8, jobs)), ["8", "3", "9"]);
});

Deno.test("test groups: arguments are folders, numbers and flags with their values, and others are named", () => {
  const args = ["--files=40", "--jobs=3", "--folders=tests", "--ignore=tests/a,tests/b", "--filter=x", "--fail-fast"];
  assert.deepEqual(groupedArgs(args), {
    maxFiles: 40,
    jobs: "3",
    folders: ["tests"],
    ignored: ["tests/a", "tests/b"],
    flags: ["--filter=x", "--fail-fast"],
  });
  for (
    const [args, wrong] of [[["--filter", "x"], /: --filter x\./], [
      ["tests/x_test.ts"],
      /: tests\/x_test\.ts\./,
    ]] as const
  ) {
    const read = groupedArgs(["--files=40", "--folders=tests", ...args]);
    assert.match("problem" in read ? read.problem : "", wrong);
  }
  assert.ok("problem" in groupedArgs(["--files=40"]));
  for (const numbers of [[], ["--files=0"], ["--files=x"], ["--files=3", "--jobs="], ["--files=3", "--jobs=+"]]) {
    assert.ok("problem" in groupedArgs([...numbers, "--folders=tests"]), numbers.join());
  }
});
