import assert from "node:assert/strict";

import type { JobSummary } from "@/lib/campaigns/types.ts";
import { BoardStore } from "@/lib/ui/campaigns/board_store.ts";
import type { CampaignApi } from "@/lib/ui/campaigns/campaign_api.ts";
import { sampleDetail, summary } from "@/tests/site/fake_campaigns.ts";
import { HeldClock, settled } from "./held_clock.ts";

/** A board over a list that a test changes; `asked` are the reads it made. */
function boardOf(jobs: JobSummary[], change: Partial<CampaignApi> = {}) {
  const clock = new HeldClock();
  const server = { jobs, asked: [] as string[], logins: 0, moves: 0 };
  const api: CampaignApi = {
    list(reaped) {
      server.asked.push(`list ${reaped}`);
      return Promise.resolve({ kind: "ok", value: { jobs: server.jobs, skipped: 0, reapedTotal: 50 } });
    },
    detail({ name }, { offset, limit }) {
      server.asked.push(`${name} ${offset}+${limit}`);
      const job = server.jobs.find((job) => job.name === name);
      return Promise.resolve(job ? { kind: "ok", value: sampleDetail(job, offset, limit) } : { kind: "gone" });
    },
    ...change,
  };
  const board = new BoardStore({ jobs, reapedTotal: 50, readAt: 0 }, {
    api,
    clock,
    onLogin: () => server.logins++,
    onOrder: () => server.moves++,
  });
  const names = () => board.shown.value.map((card) => card.summary.value.name);
  return { board, clock, server, names };
}

Deno.test("board: waits a minute after what the server rendered, and keeps the order on a poll", async () => {
  const { board, clock, server, names } = boardOf([summary({ name: "a" }), summary({ name: "b" })]);
  board.start();
  await clock.pass(59);
  assert.deepEqual(server.asked, []);
  server.jobs = [summary({ name: "b" }), summary({ name: "a", phase: "Succeeded" })];
  await clock.pass(2);
  assert.deepEqual(server.asked, ["list 20"]);
  assert.deepEqual(names(), ["a", "b"]);
  assert.equal(board.drifted.value, true);
  board.stop();
});

Deno.test("board: sorts again when the reader returns to the tab", async () => {
  const { board, server, names } = boardOf([summary({ name: "a" }), summary({ name: "b" })]);
  board.start();
  board.setHidden(true);
  server.jobs = [summary({ name: "a", phase: "Succeeded" }), summary({ name: "b" })];
  board.setHidden(false);
  await settled();
  assert.deepEqual(names(), ["b", "a"]);
  board.stop();
});

Deno.test("board: a campaign that falls into trouble moves at once, even if its card knew before the list", async () => {
  const { board, clock, server, names } = boardOf([summary({ name: "a" }), summary({ name: "b" })]);
  board.start();
  server.jobs = [summary({ name: "a", phase: "Failed" }), summary({ name: "b" })];
  board.cards.value[0].setOpen(true);
  await clock.pass(5);
  assert.deepEqual(names(), ["a", "b"]);
  assert.equal(board.cards.value[0].summary.value.phase, "Failed");
  await clock.pass(60);
  assert.deepEqual(names(), ["b", "a"]);
  assert.equal(server.moves, 1);
  board.stop();
});

Deno.test("board: an outage keeps the list, says when it is read again, and goes away", async () => {
  const answers: Awaited<ReturnType<CampaignApi["list"]>>[] = [
    { kind: "unreachable", sentence: "No." },
    { kind: "ok", value: { jobs: [summary({ name: "a" })], skipped: 0, reapedTotal: 0 } },
  ];
  const list = () => Promise.resolve(answers.shift() ?? { kind: "login" as const });
  const { board, clock, names, server } = boardOf([summary({ name: "a" })], { list });
  board.start();
  await clock.pass(61);
  assert.deepEqual(board.trouble.value, { sentence: "No.", nextAt: 180_000 });
  assert.deepEqual(names(), ["a"]);
  await clock.pass(120);
  assert.equal(board.trouble.value, null);
  await clock.pass(60);
  assert.equal(server.logins, 1);
  board.stop();
});

Deno.test("board: older campaigns come 20 at a time", async () => {
  const { board, clock, server } = boardOf([summary({ name: "a", phase: "Succeeded", jobGone: true })]);
  board.start();
  assert.equal(board.older.value, 49);
  await board.showOlder();
  await clock.pass(61);
  assert.deepEqual(server.asked, ["list 40", "list 40"]);
  board.stop();
});

Deno.test("card: a folded one reads its sums, an open one its volumes, more of them on request", async () => {
  const job = summary({ name: "a", counts: { total: 500, active: 1, done: 499, failed: 0 } });
  const { board, clock, server } = boardOf([job]);
  const [card] = board.cards.value;
  card.setOnScreen(true);
  await clock.pass(1);
  card.setOpen(true);
  await settled();
  assert.deepEqual(server.asked, ["a 0+1", "a 0+200"]);
  assert.equal(card.remaining.value, 300);
  await card.loadMore();
  assert.equal(card.volumes.value.length, 400);
  assert.equal(new Set(card.volumes.value.map(({ index }) => index)).size, 400);
  await clock.pass(61);
  assert.deepEqual(server.asked.slice(2), ["a 200+200", "a 0+400"]);
  board.stop();
});

Deno.test("card: a failed read keeps the figures and says from when they are", async () => {
  const job = summary({ name: "a" });
  const { board, clock, server } = boardOf([job]);
  const [card] = board.cards.value;
  card.setOpen(true);
  await settled();
  server.jobs = [];
  await clock.pass(60);
  assert.deepEqual(card.trouble.value, { sentence: "This campaign has been removed.", asOf: 0 });
  assert.equal(card.volumes.value.length, 4);
  board.stop();
});

Deno.test("board: no more than four cards read at once", async () => {
  const jobs = Array.from({ length: 9 }, (_, i) => summary({ name: `c${i}` }));
  let under = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const { board, clock } = boardOf(jobs, {
    async detail({ name }, { offset, limit }) {
      most = Math.max(most, ++under);
      await new Promise<void>((resolve) => ends.push(resolve));
      under--;
      return { kind: "ok", value: sampleDetail(summary({ name }), offset, limit) };
    },
  });
  for (const card of board.cards.value) card.setOnScreen(true);
  await clock.pass(1);
  for (let i = 0; i < 9; i++) {
    ends[i]();
    await settled();
  }
  assert.equal(most, 4);
  assert.equal(ends.length, 9);
  board.stop();
});
