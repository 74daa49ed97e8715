import assert from "node:assert/strict";
import { table } from "@/bench/table.ts";
import { notedVerdicts, verdictRows } from "@/bench/verdict_table.ts";

Deno.test("verdicts: a table with something to reach leaves its rows, others leave none", () => {
  const before = notedVerdicts().length;
  table([["other", "figure"], ["a", "1"]]);
  table([
    ["work", "CPU", "delay", "to reach", "reached"],
    ["first", "1 ms", "-", "≤ 2 ms", "yes"],
    ["for comparison", "1 ms", "", "", ""],
    ["second", "3 ms", "9 ms", "≤ 2 ms", "NO"],
  ]);
  const noted = notedVerdicts().slice(before);
  assert.deepEqual(noted, [
    { row: "first", figures: "1 ms", toReach: "≤ 2 ms", reached: "yes" },
    { row: "second", figures: "3 ms, 9 ms", toReach: "≤ 2 ms", reached: "NO" },
  ]);
  const all = verdictRows(noted.map((verdict) => ({ ...verdict, measure: "part.measure" })));
  assert.deepEqual(all[2], ["part.measure", "second", "3 ms, 9 ms", "≤ 2 ms", "NO"]);
});
