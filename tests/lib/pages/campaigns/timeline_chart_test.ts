import assert from "node:assert/strict";

import type { TimelineEntry } from "@/lib/campaigns/projection/types.ts";
import { timelineChart } from "@/components/campaigns/open_zones.tsx";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const at = (minute: number, volumesDone: number, volumesFailed = 0): TimelineEntry => ({
  at: new Date(Date.UTC(2026, 10, 21, 12, minute)).toISOString(),
  volumesDone,
  volumesFailed,
  pagesDone: volumesDone * 100,
});
const chart = (timeline: TimelineEntry[]) => timelineChart(detail(summary({ name: "a" }), [], { timeline }));

Deno.test("timeline: lines from the first moment to the last, up to the newest count", () => {
  const lines = chart([at(0, 0), at(15, 3, 1), at(30, 6, 2)]);
  assert.equal(lines?.ended, "0.0,48.0 300.0,24.0 600.0,0.0");
  assert.equal(lines?.failed, "0.0,48.0 300.0,42.0 600.0,36.0");
});

Deno.test("timeline: no chart without two moments, without an ended volume or with moments that are none", () => {
  assert.equal(chart([]), null);
  assert.equal(chart([at(0, 3)]), null);
  assert.equal(chart([at(0, 0), at(9, 0)]), null);
  assert.equal(chart([at(0, 0), { ...at(9, 3), at: "later" }]), null);
});

Deno.test("timeline: the table has a dozen rows at most, the newest among them", () => {
  const entries = Array.from({ length: 60 }, (_, minute) => at(minute, minute));
  const rows = chart(entries)?.rows ?? [];
  assert.equal(rows.length, 12);
  assert.equal(rows.at(-1), entries.at(-1));
});
