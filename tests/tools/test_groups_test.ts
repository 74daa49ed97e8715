import assert from "node:assert/strict";
import { groupedArgs, testGroups } from "@/tools/test_groups.ts";

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
  for (const numbers of [[], ["--files=0"], ["--files=x"], ["--files=3", "--jobs="]]) {
    assert.ok("problem" in groupedArgs([...numbers, "--folders=tests"]), numbers.join());
  }
});
