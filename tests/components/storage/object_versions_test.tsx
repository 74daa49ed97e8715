import { diffLines } from "diff";
import fc from "fast-check";
import assert from "node:assert/strict";
import { comparedLines } from "@/components/storage/object_versions.tsx";

Deno.test("line comparison: thousands of changes are cut", () => {
  const text = (sign: string) => Array.from({ length: 5000 }, (_, line) => `${sign}${line}`).join("\n");
  const { lines, isCut, added } = comparedLines([{ value: text("a"), removed: true }, {
    value: text("b"),
    added: true,
  }]);
  assert.deepEqual([lines.length, isCut, added], [3000, true, 5000]);
});

Deno.test("line comparison: the lines of each side, with those left out, are all of its lines in order", () => {
  const line = fc.constantFrom("a", "b", "c", "");
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.map((one) => `${one}\n`).join(""));
  fc.assert(fc.property(text, text, (before, after) => {
    const { lines } = comparedLines(diffLines(before, after));
    for (const side of ["before", "after"] as const) {
      const all = (side === "before" ? before : after).split("\n").slice(0, -1);
      let at = 0;
      for (const shown of lines) {
        if (shown.kind === "left out") at += shown.count;
        else if (shown[side] !== null) assert.deepEqual([shown[side], shown.text], [++at, all[at - 1]]);
      }
      assert.equal(at, all.length);
    }
  }));
});
