import assert from "node:assert/strict";

import { jointPace } from "@/lib/pages/campaigns/campaign_filter.ts";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const END = "2026-11-21T18:40:00Z";
const withPace = (pagesPerMinute: number | null, endsAt: string | null) => ({
  ...detail(summary({ name: "a" }), []),
  pace: { pagesPerMinute, endsAt, window: 600 },
});

Deno.test("joint pace: speeds add up, and the last end counts", () => {
  const pace = jointPace([withPace(10.5, "2026-11-21T14:00:00Z"), withPace(20, END)], 2);
  assert.deepEqual(pace, { pagesPerMinute: 30.5, endsAt: Date.parse(END), counted: 2, of: 2 });
});

Deno.test("joint pace: it is not whole while a campaign has not been read, is not known yet or is not in the page", () => {
  assert.deepEqual(jointPace([null], 1), { pagesPerMinute: null, endsAt: null, counted: 0, of: 1 });
  assert.equal(jointPace([withPace(1, END), withPace(1, null)], 2).counted, 1);
  assert.equal(jointPace([withPace(1, END)], 2).counted, 1);
  assert.equal(jointPace([], 0).counted, 0);
});
