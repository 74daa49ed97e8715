import assert from "node:assert/strict";
import { retainedFrom, startOfDay } from "@/lib/operations/audit/chain_folder.ts";

const NOON = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;

Deno.test("retention: age counts from now, or from the end of the newest day before today where that is earlier", () => {
  assert.equal(retainedFrom(NOON, null, 1), NOON - DAY_MS);
  assert.equal(retainedFrom(NOON, NOON - DAY_MS, 1), startOfDay(NOON) - DAY_MS);
  assert.equal(retainedFrom(NOON, NOON - 30 * DAY_MS, 10), startOfDay(NOON) - 39 * DAY_MS);
  assert.equal(retainedFrom(NOON, NOON + DAY_MS, 1), NOON - DAY_MS, "never from later than now");
});
