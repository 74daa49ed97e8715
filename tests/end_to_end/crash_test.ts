import assert from "node:assert/strict";
import { crashRounds } from "@/bench/crash/rounds.ts";

const KILLS = 5;

Deno.test({
  name: "embedded store: what was acknowledged survives kill -9 in a mixed load, what was not is whole or absent",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    let compared = 0;
    let unanswered = 0;
    for await (const round of crashRounds(KILLS, Date.now() % 1_000_000)) {
      compared += round.versions;
      unanswered += round.unanswered;
    }
    assert.ok(compared > 0 && unanswered > 0, "the kills came in the middle of the load");
  },
});
