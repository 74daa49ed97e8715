import assert from "node:assert/strict";
import fc from "fast-check";
import { PageTally, runFingerprint } from "@/lib/campaigns/projection/page_tally.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { counted, progress } from "./progress_fixtures.ts";

Deno.test("tally: each volume is added once, also one without progress", () => {
  const tally = new PageTally();
  tally.add(9_999, counted("a"), progress({ done: 5 }));
  tally.add(9_999, counted("a"), progress({ done: 50 }));
  tally.add(0, counted("b"), null);
  tally.add(0, counted("b"), progress({ done: 7 }));
  assert.equal(tally.sums().sums(2).pagesDone, 5);
  assert.deepEqual(tally.sums().sums(2).pagesCoverage, { counted: 2, of: 2 });
  assert.ok(tally.has(9_999) && tally.has(0));
  assert.ok(!tally.has(1) && !tally.has(9_998) && !tally.has(123_456));
});

Deno.test("tally: what is added to its sums later stays out of it", () => {
  const tally = new PageTally();
  tally.add(1, counted("a"), progress());
  tally.sums().add(counted("b"), progress());
  assert.equal(tally.sums().counted, 1);
});

Deno.test("tally: it holds exactly the indexes that were added", () => {
  fc.assert(fc.property(fc.array(fc.nat(300)), (indexes) => {
    const tally = new PageTally();
    for (const index of indexes) tally.add(index, counted(`${index}`), null);
    const expected = new Set(indexes);
    for (let index = 0; index <= 310; index++) {
      assert.equal(tally.has(index), expected.has(index));
    }
    assert.equal(tally.sums().counted, expected.size);
  }));
});

Deno.test("run fingerprint: it changes with the run and with the ids, not with the sources", () => {
  const of = (text: string, startedAt: string | null = "t", name = "n") =>
    runFingerprint("ns", name, startedAt, readVolumes(text));
  assert.equal(of("a\tx\nb\n"), of("a\ty\nb\tz\n"));
  const all = [
    of("a\nb"),
    of("b\na"),
    of("a\nb\nc"),
    of("a\nb", "u"),
    of("a\nb", null),
    of("a\nb", "t", "m"),
  ];
  assert.equal(new Set(all).size, all.length);
});
