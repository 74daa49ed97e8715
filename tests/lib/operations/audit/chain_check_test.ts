import assert from "node:assert/strict";
import fc from "fast-check";
import { checkChainFolder } from "@/lib/operations/audit/chain_check.ts";
import { ChainFolder } from "@/lib/operations/audit/chain_folder.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";
import { DAY_MS, NOON, writeTrail } from "./audit_fixture.ts";

const DAYS = ["2026-11-20", "2026-11-21", "2026-11-22"];

/** A test with a trail of nine records in three days. */
function testTrail(name: string, run: (folder: string) => void): void {
  testInFolder(name, async (folder) => {
    const options = { retentionDays: null, now: () => NOON, warn: assert.fail };
    const instants = [0, 0, 0, 1, 1, 1, 2, 2, 2].map((day, i) => NOON + day * DAY_MS + i);
    await writeTrail(await ChainFolder.open(folder, options), instants);
    run(folder);
  });
}

/** What a folder holds, by file. */
function contentsOf(folder: string): Map<string, string> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  return new Map(names.map((name) => [name, Deno.readTextFileSync(`${folder}/${name}`)]));
}

function write(folder: string, contents: ReadonlyMap<string, string>): void {
  for (const { name } of Deno.readDirSync(folder)) Deno.removeSync(`${folder}/${name}`);
  for (const [name, text] of contents) Deno.writeTextFileSync(`${folder}/${name}`, text);
}

testTrail("chain check: any edit, cut, exchange or removal is found", (folder) => {
  assert.deepEqual(checkChainFolder(folder), { records: 9, faults: [] }, "untouched");
  const whole = contentsOf(folder);
  const day = fc.constantFrom(...DAYS);
  const line = fc.nat({ max: 3 });
  const change = fc.oneof(
    fc.record({
      kind: fc.constant("edit" as const),
      day,
      at: fc.nat({ max: 100_000 }),
      by: fc.integer({ min: 1, max: 60 }),
    }),
    fc.record({ kind: fc.constant("remove line" as const), day, line }),
    fc.record({ kind: fc.constant("repeat line" as const), day, line }),
    fc.record({ kind: fc.constant("swap lines" as const), day, line: fc.nat({ max: 2 }) }),
    fc.record({ kind: fc.constant("cut" as const), day, line }),
    fc.record({ kind: fc.constant("remove file" as const), day }),
    fc.record({ kind: fc.constant("swap files" as const), day }),
  );
  fc.assert(
    fc.property(change, (change) => {
      const contents = new Map(whole);
      const name = `${change.day}.jsonl`;
      const text = whole.get(name) ?? "";
      const lines = text.split("\n").slice(0, -1);
      const put = (lines: readonly string[]) => contents.set(name, lines.map((line) => `${line}\n`).join(""));
      switch (change.kind) {
        case "edit": {
          const at = change.at % (text.length - 1);
          const code = text.charCodeAt(at);
          const other = String.fromCharCode(32 + (code - 32 + change.by) % 95);
          if (text[at] === "\n" || other === text[at]) return;
          contents.set(name, text.slice(0, at) + other + text.slice(at + 1));
          break;
        }
        case "remove line":
          put(lines.toSpliced(change.line, 1));
          break;
        case "repeat line":
          put(lines.toSpliced(change.line, 0, lines[change.line]));
          break;
        case "swap lines":
          put(lines.toSpliced(change.line, 2, lines[change.line + 1], lines[change.line]));
          break;
        case "cut":
          put(lines.slice(0, change.line));
          break;
        case "remove file":
          contents.delete(name);
          break;
        case "swap files": {
          const other = `${DAYS[(DAYS.indexOf(change.day) + 1) % 3]}.jsonl`;
          contents.set(name, whole.get(other) ?? "");
          contents.set(other, text);
        }
      }
      write(folder, contents);
      assert.notDeepEqual(checkChainFolder(folder).faults, [], JSON.stringify(change));
    }),
    { numRuns: 300 },
  );
});

testTrail(
  "chain check: a trail must reach the end that was noted outside, with the record that was noted",
  (folder) => {
    const { v, trail, number, hash } = JSON.parse(Deno.readTextFileSync(`${folder}/end.json`));
    const check = (outside: Record<string, unknown>) =>
      checkChainFolder(folder, { v, trail, number, hash, ...outside }).faults.join();
    assert.equal(check({}), "");
    const line = Deno.readTextFileSync(`${folder}/2026-11-21.jsonl`).split("\n")[2];
    assert.equal(
      check({ number: 5, hash: /"hash":"(\w+)"\}$/.exec(line)?.[1] }),
      "",
      "the trail has got further since",
    );
    assert.match(check({ number: 5 }), /record 5 is not the one that was noted/);
    assert.match(check({ number: 12 }), /records after 9 are missing: there were 12/);
    assert.match(check({ trail: "00000000" }), /removed or exchanged: trail 00000000 had 9 records/);
    for (const { name } of [...Deno.readDirSync(folder)]) Deno.removeSync(`${folder}/${name}`);
    assert.match(check({}), /removed or exchanged: trail \w{8} had 9 records/);
  },
);

testTrail("chain check: a fault names the file and what is missing", (folder) => {
  const whole = contentsOf(folder);
  const without = (name: string) => new Map([...whole].filter(([other]) => other !== name));
  write(folder, without("2026-11-21.jsonl"));
  assert.deepEqual(checkChainFolder(folder).faults, [
    "2026-11-22.jsonl: records 4 to 6 before it are missing or were changed",
  ]);
  write(folder, without("2026-11-22.jsonl"));
  assert.deepEqual(checkChainFolder(folder).faults, ["records after 6 are missing: there were 9"]);
  const cut = (whole.get("2026-11-22.jsonl") ?? "").slice(0, -10);
  write(folder, new Map([...whole, ["2026-11-22.jsonl", cut]]));
  assert.deepEqual(checkChainFolder(folder).faults, ["records after 8 are missing: there were 9"]);
  const lines = (whole.get("2026-11-20.jsonl") ?? "").split("\n");
  write(folder, new Map([...whole, ["2026-11-20.jsonl", lines.toSpliced(2, 1).join("\n")]]));
  assert.deepEqual(checkChainFolder(folder).faults, ["2026-11-20.jsonl: record 2 is missing"]);
  write(folder, new Map([...whole, ["end.json", "{}"], ["anchor.json", "x"]]));
  assert.deepEqual(checkChainFolder(folder).faults, ["end.json: damaged", "anchor.json: damaged"]);
});
