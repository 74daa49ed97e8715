import assert from "node:assert/strict";

import { pagesSentence } from "@/lib/pages/campaigns/campaign_progress.ts";
import { detail, summary, volume } from "@/tests/site/fake_campaigns.ts";

const job = summary({ name: "a", counts: { total: 40, active: 3, done: 21, failed: 1 } });
const text = (...args: Parameters<typeof pagesSentence>) => {
  const { figure, base, lost } = pagesSentence(...args);
  return [figure + base, lost].filter(Boolean).join(" · ");
};

Deno.test("pages sentence: its base are the volumes that have started, of all", () => {
  const read = detail(job, [], { pagesDone: 351, pagesTotal: 373, pagesCoverage: { counted: 25, of: 25 } });
  assert.equal(text(job, read), "351 of 373 pages in 25 of 40 volumes");
});

Deno.test("pages sentence: every count says at least until all started volumes are counted", () => {
  const part = { pagesDone: 81204, pagesTotal: 90000, pagesFailed: 3, pagesCoverage: { counted: 20, of: 25 } };
  assert.equal(
    text(job, detail(job, [], part)),
    "≥ 81,204 of ≥ 90,000 pages in 25 of 40 volumes · ≥ 3 pages could not be read",
  );
});

Deno.test("pages sentence: before pages are known it counts volumes, and never more than there are", () => {
  assert.equal(text(job, null), "25 of 40 volumes started");
  const nothing = { pagesDone: 0, pagesTotal: 0, pagesFailed: 0 };
  assert.equal(text(job, detail(job, [volume({ index: 0, id: "v" })], nothing)), "25 of 40 volumes started");
  const many = summary({ name: "a", counts: { total: 4, active: 3, done: 2, failed: 1 } });
  assert.equal(text(many, null), "4 of 4 volumes started");
  const none = summary({ name: "a", counts: { total: 1200, active: 0, done: 0, failed: 0 } });
  assert.equal(text(none, null), "No page read, 0 of 1,200 volumes started");
});
