import assert from "node:assert/strict";
import fc from "fast-check";

import { readJobDetail, readJobList } from "@/lib/presentation/campaign_answers.ts";
import { detail, summary, volume } from "@/tests/site/fake_campaigns.ts";

const job = summary({ name: "rådhusrätten" });

Deno.test("campaign answers: a bad row is left out and counted", () => {
  const list = readJobList([job, { ...job, phase: "Exploded" }, null, { ...job, counts: { total: "4" } }]);
  assert.deepEqual(list, { jobs: [job], skipped: 3 });
});

Deno.test("campaign answers: a campaign without a creation time is a row", () => {
  assert.equal(readJobList([{ ...job, createdAt: null }])?.jobs.length, 1);
});

Deno.test("campaign answers: a list of bad rows only is no list; an empty one is", () => {
  assert.equal(readJobList([{}]), null);
  assert.equal(readJobList({ jobs: [] }), null);
  assert.deepEqual(readJobList([]), { jobs: [], skipped: 0 });
});

Deno.test("campaign answers: a detail with one bad volume is refused whole", () => {
  const good = detail(job, [volume({ index: 0, id: "v" })]);
  assert.equal(readJobDetail(good)?.volumes.length, 1);
  assert.equal(readJobDetail({ ...good, volumes: [{ ...good.volumes[0], state: "asleep" }] }), null);
  assert.equal(readJobDetail({ ...good, pagesCoverage: null }), null);
});

Deno.test("campaign answers: a source that is no web address is no link", () => {
  const evil = volume({ index: 0, id: "v", sourceUrl: "javascript:alert(1)" });
  assert.equal(readJobDetail(detail(job, [evil]))?.volumes[0].sourceUrl, null);
});

Deno.test("campaign answers: a pace, a timeline and a stall that cannot be read are dropped alone", () => {
  const pace = { pagesPerMinute: null, endsAt: null, window: 0 };
  const timeline = [{ at: "2026-11-21T12:00:00Z", volumesDone: 1, volumesFailed: 0, pagesDone: 9 }];
  const stalled = volume({ index: 0, id: "v", stalledSince: "2026-11-21T12:00:00Z" });
  const good = detail(job, [stalled], { pace, timeline });
  assert.deepEqual(readJobDetail(good), good);
  const { stalledSince: _, ...unmarked } = stalled;
  for (const bad of [{ pace: { ...pace, window: "1" }, timeline: [null] }, { pace: undefined, timeline: undefined }]) {
    assert.deepEqual(readJobDetail({ ...good, ...bad, volumes: [unmarked] }), {
      ...good,
      pace: null,
      timeline: [],
      volumes: [{ ...stalled, stalledSince: null }],
    });
  }
});

Deno.test("campaign answers: nothing that JSON can hold makes them throw", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    readJobList(value);
    readJobList([value]);
    readJobDetail(value);
    readJobDetail({ ...detail(job, []), volumes: [value], quality: value, lastError: value });
  }));
});
