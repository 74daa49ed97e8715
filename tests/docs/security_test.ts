import assert from "node:assert/strict";

const HEAD = ["asset", "attack", "defence", "test"];

/** The rows of every table with that head, each as its cells. */
function attackRows(markdown: string): string[][] {
  const tables = markdown.match(/(?:^\|.*\n)+/gm) ?? [];
  return tables.map((table) => table.trim().split("\n").map(cells)).filter(([head]) => head.join() === HEAD.join())
    .flatMap((table) => table.slice(2));
}

function cells(line: string): string[] {
  return line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim());
}

Deno.test("security: every attack has an asset, a defence, and tests that exist", async () => {
  const text = await Deno.readTextFile("docs/security.md");
  assert.deepEqual(text.split("\n").filter((line) => / \| /.test(line) && !line.startsWith("|")), [], "in no table");
  const attacks = attackRows(text);
  assert.ok(attacks.length >= 40, String(attacks.length));
  for (const row of attacks) {
    assert.equal(row.length, HEAD.length, row.join(" | "));
    assert.ok(row.every((cell) => cell !== ""), row.join(" | "));
    const tests = row[3].split(", ").map((cell) =>
      /^`((?:embedded\/)?tests\/\S+_test\.tsx?|bench\/\S+\.ts)`$/.exec(cell)?.[1]
    );
    assert.ok(tests.some((path) => path?.includes("tests/")), `a benchmark alone: ${row[3]}`);
    for (const path of tests) {
      assert.ok(path, `no paths of tests: ${row[3]}`);
      assert.ok((await Deno.stat(path)).isFile, path);
    }
  }
  const named = attacks.map((row) => `${row[0]}: ${row[1]}`);
  assert.deepEqual(named.filter((one, at) => named.indexOf(one) !== at), [], "listed twice");
});

Deno.test("security: settings that the page names exist", async () => {
  const text = await Deno.readTextFile("docs/security.md");
  const settings = await Deno.readTextFile("docs/configuration.md");
  for (const [, name] of text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)) {
    assert.ok(settings.includes(name), `${name} is no setting`);
  }
});
