import assert from "node:assert/strict";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { CampaignApi } from "@/lib/pages/campaigns/campaign_api_client.ts";
import { CardStore } from "@/lib/pages/campaigns/card_store_client.ts";
import { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";
import { sampleDetail, summary } from "@/tests/site/fake_campaigns.ts";
import { HeldClock, settled } from "@/tests/lib/pages/browser/held_clock.ts";

const LARGE = { total: 8000, active: 0, done: 7940, failed: 60 };

/** A card over a campaign whose list of volumes has `rows` lines. */
function cardOf(job: JobSummary, rows = job.counts.total, change: Partial<CampaignApi> = {}) {
  const clock = new HeldClock();
  const asked: string[] = [];
  const server = { job, most: 0, underWay: 0, isDownFrom: Infinity };
  const api: CampaignApi = {
    list: () => Promise.reject(new Error("a card reads no list")),
    async detail(_campaign, { offset, limit }) {
      asked.push(`${offset}+${limit}`);
      server.most = Math.max(server.most, ++server.underWay);
      await Promise.resolve();
      server.underWay--;
      if (offset >= server.isDownFrom) return { kind: "unreachable", sentence: "No." };
      const { failures, ...value } = sampleDetail(server.job, offset, Math.max(0, Math.min(limit, rows - offset)));
      return { kind: "ok", value: { ...value, failures: failures.slice(0, 50) } };
    },
    ...change,
  };
  const card = new CardStore(job, { api, queue: new ReadQueue(4), clock, onLogin: () => {} });
  return { card, asked, server, clock };
}

Deno.test("card: all volumes are read in pages of 1,000, four at a time, and stand in their order", async () => {
  const { card, asked, server } = cardOf(summary({ name: "a", phase: "Succeeded", counts: LARGE }));
  card.setOpen(true);
  await settled();
  const [all, again] = await Promise.all([card.loadAll(), card.loadAll()]);
  assert.deepEqual(all?.map(({ index }) => index), Array.from({ length: 8000 }, (_, index) => index));
  assert.equal(again, all, "one read for both");
  assert.deepEqual(asked, ["0+200", ...Array.from({ length: 8 }, (_, page) => `${200 + page * 1000}+1000`)]);
  assert.equal(server.most, 4);
  assert.equal(card.remaining.value, 0);
});

Deno.test("card: pages that come in any order are put in their places", async () => {
  const job = summary({ name: "a", phase: "Succeeded", counts: LARGE });
  const ends: (() => void)[] = [];
  const { card } = cardOf(job, 8000, {
    async detail(_campaign, { offset, limit }) {
      await new Promise<void>((resolve) => offset === 0 ? resolve() : ends.push(resolve));
      return { kind: "ok", value: sampleDetail(job, offset, limit) };
    },
  });
  card.setOpen(true);
  await settled();
  const all = card.loadAll();
  for (let round = 0; round < 8; round++) {
    await settled();
    ends.pop()?.();
  }
  assert.deepEqual((await all)?.map(({ index }) => index), Array.from({ length: 8000 }, (_, index) => index));
});

Deno.test("card: a read that fails ends the reading of all, and the volumes before it stay", async () => {
  const { card, server } = cardOf(summary({ name: "a", phase: "Succeeded", counts: LARGE }));
  server.isDownFrom = 2001;
  card.setOpen(true);
  await settled();
  assert.equal(await card.loadAll(), null);
  assert.equal(card.volumes.value.length, 2200);
  assert.equal(card.trouble.value?.sentence, "No.");
});

Deno.test("card: failed volumes are those that the detail names where it names all", async () => {
  const { card, asked } = cardOf(summary({ name: "a", phase: "PartiallyFailed", counts: { ...LARGE, failed: 50 } }));
  card.setOpen(true);
  await settled();
  assert.equal((await card.failedVolumes())?.length, 50);
  assert.equal(asked.length, 1);
});

Deno.test("card: failed volumes are those of now, not of the rows that were loaded before they failed", async () => {
  const failing = (failed: number) =>
    summary({ name: "a", counts: { total: 3000, active: 0, done: 3000 - failed, failed } });
  const { card, server } = cardOf(failing(60));
  card.setOpen(true);
  await settled();
  await card.loadAll();
  card.setOpen(false);
  server.job = failing(1200);
  card.update(server.job);
  assert.equal((await card.failedVolumes())?.length, 1200);
  assert.equal(card.failedProblem.value, null);
});

Deno.test("card: failed volumes are not saved while some are missing, but for a Job that is gone, with a sentence", async () => {
  for (const jobGone of [false, true]) {
    const job = summary({ name: "a", phase: "PartiallyFailed", counts: LARGE, jobGone });
    const { card } = cardOf(job, 40);
    assert.equal((await card.failedVolumes())?.length, jobGone ? 40 : undefined);
    assert.match(card.failedProblem.value ?? "", jobGone ? /names 40 of its 60/ : /^Only 40 of 60 .* no file/);
  }
});

Deno.test("card: failed volumes that cannot be read are not saved, and the reason is said", async () => {
  const { card, server } = cardOf(summary({ name: "a", phase: "PartiallyFailed", counts: LARGE }));
  server.isDownFrom = 0;
  assert.equal(await card.failedVolumes(), null);
  assert.equal(card.failedProblem.value, "No.");
});

Deno.test("card: each poll reads the first page and a further one in turn, and all of them in another phase", async () => {
  const job = summary({ name: "a", counts: { total: 3200, active: 0, done: 3200, failed: 0 } });
  const { card, clock, asked, server } = cardOf(job);
  card.setOpen(true);
  await settled();
  await card.loadAll();
  asked.length = 0;
  for (const _poll of [1, 2, 3, 4]) await clock.pass(60);
  const further = ["1000+1000", "2000+1000", "3000+200", "1000+1000"];
  assert.deepEqual(asked, further.flatMap((page) => ["0+1000", page]));
  asked.length = 0;
  server.job = { ...job, phase: "PartiallyFailed", counts: { total: 3200, active: 0, done: 0, failed: 3200 } };
  await clock.pass(60);
  assert.deepEqual(asked.toSorted(), ["0+1000", "1000+1000", "2000+1000", "3000+200"]);
  assert.ok(card.volumes.value.every(({ state }) => state === "failed"));
  await clock.pass(600);
  assert.equal(asked.length, 4, "a campaign that is over is not read again");
});

Deno.test("card: a campaign that is over is read until its further pages are", async () => {
  const job = summary({ name: "a", counts: { total: 1200, active: 0, done: 1200, failed: 0 } });
  const { card, clock, server } = cardOf(job);
  card.setOpen(true);
  await settled();
  await card.loadAll();
  server.isDownFrom = 1;
  server.job = { ...job, phase: "Failed", counts: { total: 1200, active: 0, done: 0, failed: 1200 } };
  await clock.pass(60);
  assert.equal(card.trouble.value?.sentence, "No.");
  server.isDownFrom = Infinity;
  await clock.pass(120);
  assert.equal(card.trouble.value, null);
  assert.ok(card.volumes.value.every(({ state }) => state === "failed"));
});

Deno.test("card: a list of volumes that is shorter than the Job counts, or gone, has nothing more to load", async () => {
  for (const rows of [0, 3]) {
    const { card, asked } = cardOf(summary({ name: "a", phase: "Succeeded", counts: LARGE }), rows);
    card.setOpen(true);
    await settled();
    assert.equal(card.remaining.value, 0);
    assert.equal((await card.loadAll())?.length, rows);
    assert.equal(asked.length, 1);
  }
});
