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

Deno.test("test groups: a file whose tests may leave something behind runs alone, and none is left out", () => {
  const files = [
    file("embedded/store/a_test.ts"),
    file("embedded/store/b_test.ts", "{ sanitizeOps: false }"),
    file("embedded/store/c_test.ts"),
    file("components/d_test.tsx", "{ sanitizeResources: false }"),
    file("embedded/store/e_test.ts", 'import { leaks } from "./fixture.ts";'),
  ];
  assert.deepEqual(grouped(testGroups(files, 9)), [
    ["embedded/store/e", ["embedded/store/e_test.ts"]],
    ["components/d", ["components/d_test.tsx"]],
    ["embedded/store/b", ["embedded/store/b_test.ts"]],
    ["embedded/store", ["embedded/store/a_test.ts", "embedded/store/c_test.ts"]],
  ]);
});

Deno.test("test groups: arguments are one folder and flags with their values, and others are named", () => {
  assert.deepEqual(groupedArgs(["--files=40", "--ignore=tests/a,tests/b", "tests", "--filter=x", "--fail-fast"]), {
    maxFiles: 40,
    ignored: ["tests/a", "tests/b"],
    folder: "tests",
    flags: ["--filter=x", "--fail-fast"],
  });
  for (
    const [args, wrong] of [[["--filter", "x"], /--filter x\./], [
      ["tests/x_test.ts"],
      /: tests\/x_test\.ts\./,
    ]] as const
  ) {
    const read = groupedArgs(["--files=40", "tests", ...args]);
    assert.match("problem" in read ? read.problem : "", wrong);
  }
  assert.ok("problem" in groupedArgs(["--files=40"]));
});
