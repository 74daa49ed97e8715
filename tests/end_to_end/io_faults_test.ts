import assert from "node:assert/strict";
import { ioFaults } from "@/bench/faults/io_faults.ts";
import { faultRounds } from "@/bench/faults/rounds.ts";

/** The first disks of the rounds: one with some writes that fail, one that is gone, one with some reads that fail. */
const ROUNDS = 3;

const faults = await ioFaults();
const lack = faults ? "" : " (there is no C compiler here for what makes calls fail)";

Deno.test({
  name:
    `embedded store: on a failing disk nothing that was acknowledged is lost or changed, and all else is an error${lack}`,
  ignore: faults === null,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    assert.ok(faults);
    try {
      for await (
        const { disk, failed, refusals, unanswered, ready, end } of faultRounds(faults, ROUNDS, Date.now() % 1_000_000)
      ) {
        assert.ok(failed > 0 && refusals !== "" && unanswered > 0, disk);
        assert.equal(end, "stopped: 0", disk);
        if (disk === "it is gone") assert.equal(ready, "503 full");
      }
    } finally {
      faults.remove();
    }
  },
});
