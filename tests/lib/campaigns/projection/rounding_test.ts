import assert from "node:assert/strict";
import { roundScore, roundToEven } from "@/lib/campaigns/projection/rounding.ts";

Deno.test("rounding: halves of whole numbers go to the even neighbour", () => {
  const cases = [[0.5, 0], [1.5, 2], [2.5, 2], [2.4, 2], [2.6, 3], [-0.5, -0], [
    -1.5,
    -2,
  ]];
  for (const [value, expected] of cases) {
    assert.equal(roundToEven(value) + 0, expected + 0, `${value}`);
  }
});

Deno.test("rounding: scores keep four decimals, exact halves go to the even one", () => {
  const cases = [
    [0.03125, 0.0312],
    [0.09375, 0.0938],
    [0.15625, 0.1562],
    [0.12345, 0.1235],
    [0.00005, 0.0001],
    [0.99999, 1],
    [0.5, 0.5],
    [1, 1],
    [0, 0],
    [2 / 3, 0.6667],
  ];
  for (const [value, expected] of cases) {
    assert.equal(roundScore(value), expected, `${value}`);
  }
});
