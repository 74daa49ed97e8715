import assert from "node:assert/strict";
import { formatAge, formatDuration } from "@/lib/pages/moments.ts";

Deno.test("duration: tenths of a second below a minute, whole units above", () => {
  const cases: [number, string][] = [
    [0, "0.0 s"],
    [12.34, "12.3 s"],
    [59.94, "59.9 s"],
    [59.96, "1 min 0 s"],
    [65, "1 min 5 s"],
    [119.6, "2 min 0 s"],
    [3599.6, "1 h 0 min 0 s"],
    [6218, "1 h 43 min 38 s"],
    [360_000, "100 h 0 min 0 s"],
    [-1, ""],
    [NaN, ""],
    [Infinity, ""],
  ];
  for (const [seconds, text] of cases) {
    assert.equal(formatDuration(seconds), text, `${seconds}`);
  }
});

Deno.test("age: the largest whole unit", () => {
  const cases: [number, string][] = [
    [0, "0 s ago"],
    [-5, "0 s ago"],
    [59.9, "59 s ago"],
    [60, "1 min ago"],
    [3599, "59 min ago"],
    [7200, "2 h ago"],
    [NaN, ""],
  ];
  for (const [seconds, text] of cases) {
    assert.equal(formatAge(seconds), text, `${seconds}`);
  }
});
