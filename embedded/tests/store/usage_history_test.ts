import fc from "fast-check";
import assert from "node:assert/strict";
import { usageDuring } from "@/embedded/store/mapi/usage_reports.ts";
import { countUse, expireUsage, StoredCounts } from "@/embedded/store/writer/usage_changes.ts";
import { createBucket, writtenStore } from "./changes_fixture.ts";

const MS_PER_HOUR = 60 * 60 * 1000;

/** An index with two buckets of one tenant, and what may be done in them at an hour. */
function startIndex() {
  const store = writtenStore([
    { kind: "createTenant", input: { name: "t", record: "{}", firstUser: null, atMs: 0 } },
    ...["b1", "b2"].map((name) => createBucket({ tenant: 1, name, guid: name })),
  ]);
  return {
    ...store,
    write(bucket: number, hour: number, size: number) {
      const counts = new StoredCounts();
      counts.add(1, size, null);
      counts.write(store.statements, bucket);
      countUse(store.statements, { bucket, atMs: hour * MS_PER_HOUR }, { bytesIn: size, writes: 1 });
    },
  };
}

Deno.test("usage history: traffic and stored usage match a plain list for any intervals", () => {
  const event = fc.record({
    bucket: fc.constantFrom(1, 2),
    hour: fc.integer({ min: 0, max: 40 }),
    size: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 30 }),
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 1, max: 12 }),
      (events, start, step) => {
        using index = startIndex();
        const ordered = events.toSorted((a, b) => a.hour - b.hour);
        for (const { bucket, hour, size } of ordered) index.write(bucket, hour, size);
        const intervals = [0, 1, 2].map((i) => ({ first: start + i * step, last: start + (i + 1) * step - 1 }));
        for (const bucket of [null, 1, 2]) {
          const mine = ordered.filter((one) => bucket === null || one.bucket === bucket);
          const expected = intervals.map(({ first, last }) => {
            const within = mine.filter(({ hour }) => hour >= first && hour <= last);
            const until = mine.filter(({ hour }) => hour <= last);
            const bytes = (some: typeof mine) => some.reduce((sum, { size }) => sum + size, 0);
            return [within.length, bytes(within), until.length, bytes(until)];
          });
          const used = usageDuring(index.statements, 1, bucket, intervals).map((one) => [
            one.writes,
            one.bytesIn,
            one.objectCount,
            one.ingestedVolume,
          ]);
          assert.deepEqual(used, expected);
        }
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("usage history: old hours are deleted, the bucket's usage stays", () => {
  using index = startIndex();
  index.write(1, 10, 100);
  index.write(1, 11, 10);
  index.write(1, 20, 1);
  expireUsage(index.statements, { beforeHour: 15 });
  const [early, late] = usageDuring(index.statements, 1, 1, [{ first: 0, last: 10 }, { first: 11, last: 30 }]);
  assert.deepEqual([early.writes, early.ingestedVolume], [0, 0]);
  assert.deepEqual([late.writes, late.ingestedVolume], [2, 111]);
});
