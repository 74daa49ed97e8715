import assert from "node:assert/strict";
import fc from "fast-check";
import {
  MAX_SAMPLED_VOLUMES,
  MIN_PACE_MS,
  MIN_PACE_PAGES,
  MIN_SAMPLE_MS,
  PACE_WINDOW_MS,
  PaceMeter,
  startedVolumes,
} from "@/lib/campaigns/projection/pace.ts";
import type { Pace, ProgressAnswer, VolumeState } from "@/lib/campaigns/projection/types.ts";
import { progress } from "./cluster_fixtures.ts";

const T = Date.parse("2025-11-20T08:00:00Z");
const MINUTE = 60_000;
const UNKNOWN: Pace = { pagesPerMinute: null, endsAt: null, window: 0 };

/** A volume at one sample: its state and its pages done of 100; null: not read. */
type Volume = readonly [VolumeState, number | null];

function sample(at: number, volumes: readonly Volume[], meanPages: number | null = 100) {
  const answers = new Map<number, ProgressAnswer>();
  for (const [index, [, done]] of volumes.entries()) {
    if (done !== null) {
      answers.set(index, { answered: true, forbidden: false, progress: progress({ done, total: 100, failed: 0 }) });
    }
  }
  return { at, campaign: startedVolumes(volumes.map(([state]) => state)), answers, attemptAt: () => null, meanPages };
}

Deno.test("pace: pages of the volumes read twice, and the end of all volumes from them", () => {
  const meter = new PaceMeter();
  assert.deepEqual(meter.sample(sample(T, [["active", 10], ["active", 20], ["pending", null]])), UNKNOWN);
  assert.deepEqual(meter.sample(sample(T + MINUTE, [["active", 20], ["active", 30], ["pending", null]])), {
    pagesPerMinute: 20,
    // 80 + 70 pages of the running ones, and 100 of one not yet started.
    endsAt: "2025-11-20T08:13:30Z",
    window: 60,
  });
});

Deno.test("pace: pages of a volume that is read late do not look like speed", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 10], ["active", null], ["done", null]]));
  const pace = meter.sample(sample(T + MINUTE, [["active", 20], ["active", 90], ["done", 100]]));
  // Of two running volumes one was measured; the other is taken to be as fast.
  assert.equal(pace.pagesPerMinute, 20);
  assert.equal(
    meter.sample(sample(T + 2 * MINUTE, [["active", 30], ["active", 100], ["done", 100]])).pagesPerMinute,
    20,
  );
});

Deno.test("pace: a volume that started or ended in between counts with what it did", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 60], ["pending", null], ["pending", null]]));
  const pace = meter.sample(sample(T + MINUTE, [["done", 100], ["active", 30], ["failed", 5]]));
  assert.equal(pace.pagesPerMinute, 75);
});

Deno.test("pace: a new attempt does not count the pages of the one before again", () => {
  const meter = new PaceMeter();
  const other: Volume = ["active", 0];
  meter.sample(sample(T, [["active", 50], other]));
  meter.sample(sample(T + MINUTE, [["active", 0], ["active", 20]]));
  meter.sample(sample(T + 2 * MINUTE, [["pending", null], ["active", 40]]));
  meter.sample(sample(T + 3 * MINUTE, [["active", 0], ["active", 60]]));
  assert.equal(meter.sample(sample(T + 4 * MINUTE, [["active", 50], ["active", 80]])).pagesPerMinute, 20);
});

Deno.test("pace: pages of a file from before the newest attempt are not speed, and are still to do", () => {
  const meter = new PaceMeter();
  const attemptAt = (index: number) => index === 1 ? T + 30_000 : null;
  const read = (done: number, updatedAt: string) => ({
    answered: true,
    forbidden: false,
    progress: progress({ done, total: 100, failed: 0, updatedAt }),
  });
  const then = [["active", 0], ["pending", null]] as const;
  meter.sample(sample(T, then));
  const answers = new Map([[0, read(20, "2025-11-20T08:00:50Z")], [1, read(90, "2025-10-20T08:00:00Z")]]);
  const now = { ...sample(T + MINUTE, [["active", 20], ["active", 90]]), answers, attemptAt };
  // 80 pages of the one, and all 100 of the other; both are as fast as 20 pages of one and none of the other.
  assert.deepEqual(meter.sample(now), { pagesPerMinute: 20, endsAt: "2025-11-20T08:10:00Z", window: 60 });
});

Deno.test("pace: unknown until enough time and enough pages were counted", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 0]]));
  assert.equal(meter.sample(sample(T + MIN_PACE_MS - 1000, [["active", 50]])).pagesPerMinute, null);
  assert.notEqual(meter.sample(sample(T + MIN_PACE_MS + MIN_SAMPLE_MS, [["active", 60]])).pagesPerMinute, null);
  const slow = new PaceMeter();
  slow.sample(sample(T, [["active", 0]]));
  const few = MIN_PACE_PAGES - 1;
  assert.equal(slow.sample(sample(T + MINUTE, [["active", few]])).pagesPerMinute, null);
  assert.notEqual(slow.sample(sample(T + MINUTE + PACE_WINDOW_MS, [["active", few]])).pagesPerMinute, null);
});

Deno.test("pace: time before the first page, such as that of a warm-up, does not slow it down", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 0]]));
  assert.deepEqual(meter.sample(sample(T + 60 * MINUTE, [["active", 0]])), UNKNOWN);
  assert.equal(meter.sample(sample(T + 61 * MINUTE, [["active", 30]])).pagesPerMinute, 30);
});

Deno.test("pace: a second request right after a sample gets the same estimates", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 0]]));
  const pace = meter.sample(sample(T + MINUTE, [["active", 30]]));
  assert.equal(meter.sample(sample(T + MINUTE + MIN_SAMPLE_MS - 1, [["active", 90]])), pace);
});

Deno.test("pace: after a step of the clock backwards it begins anew", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 0]]));
  meter.sample(sample(T + MINUTE, [["active", 30]]));
  assert.deepEqual(meter.sample(sample(T - 60 * MINUTE, [["active", 40]])), UNKNOWN);
  assert.equal(meter.sample(sample(T - 59 * MINUTE, [["active", 60]])).pagesPerMinute, 20);
});

Deno.test("pace: without a page done for long the end is unknown, and so it is without a known volume", () => {
  const meter = new PaceMeter();
  meter.sample(sample(T, [["active", 0], ["pending", null]], null));
  const pace = meter.sample(sample(T + MINUTE, [["active", 30], ["pending", null]], null));
  assert.deepEqual([pace.pagesPerMinute, pace.endsAt], [30, null]);
  assert.deepEqual(meter.sample(sample(T + 2 * PACE_WINDOW_MS, [["active", 30], ["pending", null]])), {
    pagesPerMinute: 0,
    endsAt: null,
    window: PACE_WINDOW_MS / 1000,
  });
});

Deno.test("pace: volumes beyond those that can be remembered are taken to be as fast", () => {
  const meter = new PaceMeter();
  const all = (done: number) => Array.from({ length: 2 * MAX_SAMPLED_VOLUMES }, (): Volume => ["active", done]);
  meter.sample(sample(T, all(1)));
  assert.equal(meter.sample(sample(T + MINUTE, all(2))).pagesPerMinute, 2 * MAX_SAMPLED_VOLUMES);
});

/** The times of a volume's attempt and of the last write of its file, in minutes before the sample. */
function timed(volumes: readonly (readonly [...Volume, ...times: number[]])[]) {
  const plain = sample(T, volumes.map(([state, done]): Volume => [state, done]));
  const answers = new Map([...plain.answers].map(([index, answer]) => {
    const updatedAt = new Date(T - volumes[index][2] * MINUTE).toISOString();
    return [index, { ...answer, progress: answer.progress && { ...answer.progress, updatedAt } }];
  }));
  return { ...plain, answers, attemptAt: (index: number) => T - volumes[index][3] * MINUTE };
}

Deno.test("pace: the first sample knows it by the times of running volumes, an odd one of which does not decide", () => {
  const running = [["active", 20, 0, 4], ["active", 90, 0, 1], ["active", 10, 0, 2], ["pending", null, 0, 0]] as const;
  assert.deepEqual(new PaceMeter().sample(timed(running)), {
    pagesPerMinute: 15,
    endsAt: "2025-11-20T08:18:40Z",
    window: 60,
  });
  assert.deepEqual(new PaceMeter().sample(timed([["active", 9, 0, 4], ["active", 30, 0, 0.5]])), UNKNOWN);
});

Deno.test("pace: where all ended volumes were read, the first sample counts their pages since the first of them ended", () => {
  const volumes = [["done", 12, 6, 9], ["done", 10, 4, 6], ["done", 8, 2, 4], ["active", 6, 0, 2]] as const;
  // 10 + 8 + 6 pages in six minutes, one at a time.
  assert.equal(new PaceMeter().sample(timed(volumes)).pagesPerMinute, 4);
});

Deno.test("pace: the first sample of volumes of any sizes is near the true speed", () => {
  const sizes = (n: number) => 5 + (n * 7) % 11;
  for (const parallel of [1, 2, 3]) {
    for (const age of [6, 10, 25, 90]) {
      const rows: [VolumeState, number | null, number, number][] = [];
      // Each page takes ten seconds, each start half a minute.
      for (let slot = 0; slot < parallel; slot++) {
        for (let left = age - slot * 0.4, n = slot; left > 0; n += parallel) {
          const took = 0.5 + sizes(n) / 6;
          const isDone = left >= took;
          const pages = isDone ? sizes(n) : Math.max(0, Math.floor((left - 0.5) * 6));
          rows.push([isDone ? "done" : "active", pages, isDone ? left - took : 0, left]);
          left -= took;
        }
      }
      const speed = new PaceMeter().sample(timed(rows)).pagesPerMinute;
      const mean = 10;
      const truth = parallel * mean / (0.5 + mean / 6);
      if (speed === null) assert.ok(age < 10 && parallel === 1, `${parallel} at once for ${age} min`);
      else assert.ok(Math.abs(speed / truth - 1) < 0.35, `${parallel} at once for ${age} min: ${speed}, not ${truth}`);
    }
  }
});

Deno.test("pace: what is measured moves a first estimate that was wrong", () => {
  const meter = new PaceMeter();
  assert.equal(meter.sample(timed([["active", 90, 0, 1]])).pagesPerMinute, 90);
  assert.equal(meter.sample(sample(T + 2 * MINUTE, [["active", 92]])).pagesPerMinute, 30.7);
});

Deno.test("pace: figures that no worker could have written give finite estimates", () => {
  const wild = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
  const volume = fc.record({
    state: fc.constantFrom<VolumeState>("pending", "active", "done", "failed"),
    parts: fc.option(fc.record({ done: wild, total: wild, failed: wild })),
  });
  const reads = fc.array(
    fc.record({ at: fc.integer({ min: 0, max: 4e12 }), volumes: fc.array(volume, { maxLength: 5 }) }),
  );
  fc.assert(fc.property(reads, (list) => {
    const meter = new PaceMeter();
    for (const { at, volumes } of list) {
      const answers = new Map(
        volumes.flatMap(({ parts }, index) =>
          parts ? [[index, { answered: true, forbidden: false, progress: progress(parts) }] as const] : []
        ),
      );
      const states = volumes.map(({ state }) => state);
      const { pagesPerMinute, endsAt, window } = meter.sample({
        at,
        campaign: startedVolumes(states),
        answers,
        attemptAt: () => null,
        meanPages: 100,
      });
      assert.ok(pagesPerMinute === null || Number.isFinite(pagesPerMinute) && pagesPerMinute >= 0);
      assert.ok(endsAt === null || Date.parse(endsAt) >= at - 1000);
      assert.ok(window >= 0 && window <= PACE_WINDOW_MS / 1000);
    }
  }));
});

/** One running volume with more pages than it will do, of which a sample sees so many more each time. */
const steps = fc.array(
  fc.record({ seconds: fc.integer({ min: 5, max: 1200 }), pages: fc.integer({ min: 0, max: 400 }) }),
  { minLength: 2, maxLength: 20 },
);

Deno.test("pace: the end moves no further than towards the speed of the newest sample, by its share of the window", () => {
  const total = 1_000_000;
  fc.assert(fc.property(steps, (list) => {
    const meter = new PaceMeter();
    let [at, done] = [T, 0];
    const read = () => {
      const answer = { answered: true, forbidden: false, progress: progress({ done, total, failed: 0 }) };
      const campaign = startedVolumes(["active"]);
      return meter.sample({ at, campaign, answers: new Map([[0, answer]]), attemptAt: () => null, meanPages: total });
    };
    let before = read();
    for (const { seconds, pages } of list) {
      at += seconds * 1000;
      done += pages;
      const after = read();
      const newest = pages * 60 / seconds;
      if (before.pagesPerMinute !== null && after.pagesPerMinute !== null) {
        const share = Math.min(1, seconds / after.window);
        const moved = Math.abs(after.pagesPerMinute - before.pagesPerMinute);
        // The figures of a response are rounded to a tenth of a page a minute.
        assert.ok(moved <= Math.abs(newest - before.pagesPerMinute) * share + 0.2, `${moved} ${newest} ${share}`);
        if (after.endsAt !== null) {
          const left = (Date.parse(after.endsAt) - at) / MINUTE;
          const slow = Math.max(0, Math.min(newest, before.pagesPerMinute) - 0.1);
          assert.ok(left >= (total - done) / (Math.max(newest, before.pagesPerMinute) + 0.1) - 1 / 60);
          assert.ok(left <= (total - done) / slow + 1 / 60);
        }
      }
      before = after;
    }
  }));
});

Deno.test("pace: a growing coverage leaves the speed of a steady campaign as it is", () => {
  const coverage = fc.array(fc.array(fc.nat(9), { maxLength: 10 }), { minLength: 2, maxLength: 12 });
  fc.assert(fc.property(coverage, (reads) => {
    const meter = new PaceMeter();
    for (const [minute, extra] of reads.entries()) {
      const seen = new Set([0, ...extra]);
      // Ten running volumes, each two pages a minute, of which the first and some others are read.
      const volumes = Array.from({ length: 10 }, (_, index): Volume => ["active", seen.has(index) ? 2 * minute : null]);
      const { pagesPerMinute } = meter.sample(sample(T + minute * MINUTE, volumes));
      if (pagesPerMinute !== null) assert.equal(pagesPerMinute, 20);
    }
  }));
});

Deno.test("pace: at a steady speed the end stays where it is", () => {
  const meter = new PaceMeter();
  const ends = new Set<string | null>();
  for (let minute = 0; minute <= 30; minute++) {
    const { endsAt } = meter.sample(sample(T + minute * MINUTE, [["active", 2 * minute], ["pending", null]]));
    if (minute >= 5) ends.add(endsAt);
  }
  assert.deepEqual([...ends], ["2025-11-20T09:40:00Z"]);
});
