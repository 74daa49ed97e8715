import assert from "node:assert/strict";

import { effect } from "@preact/signals";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { BoardStore } from "@/lib/pages/campaigns/board_store_client.ts";
import type { CampaignApi } from "@/lib/pages/campaigns/campaign_api_client.ts";
import { type ListAddress, listPage, NO_FILTER } from "@/lib/pages/campaigns/campaign_filter.ts";
import { sampleDetail, summary } from "@/tests/site/fake_campaigns.ts";
import { HeldClock, settled } from "@/tests/lib/pages/browser/held_clock.ts";

const AWAY = { kind: "unreachable", sentence: "No." } as const;
const ALL: ListAddress = { filter: NO_FILTER, sort: "state", reaped: 20 };

/** A board over a list that a test changes; `asked` are the reads it made. */
function boardOf(jobs: JobSummary[], change: Partial<CampaignApi> = {}, readAt = 0, address = ALL) {
  const clock = new HeldClock();
  const server = { jobs, isDown: false, asked: [] as string[], moves: 0 };
  const api: CampaignApi = {
    list(reaped) {
      server.asked.push(`list ${reaped}`);
      if (server.isDown) return Promise.resolve(AWAY);
      return Promise.resolve({
        kind: "ok",
        value: { jobs: server.jobs, skipped: 0, reapedTotal: 90, ageSeconds: null },
      });
    },
    detail({ name }, { offset, limit }) {
      server.asked.push(`${name} ${offset}+${limit}`);
      if (server.isDown) return Promise.resolve(AWAY);
      const job = server.jobs.find((job) => job.name === name);
      return Promise.resolve(job ? { kind: "ok", value: sampleDetail(job, offset, limit) } : { kind: "gone" });
    },
    ...change,
  };
  const first = { ...listPage(jobs, address, 0), reapedTotal: 50, readAt, staleSince: null };
  const board = new BoardStore(first, address, { api, clock, onLogin: () => {}, onOrder: () => server.moves++ });
  const names = () => board.shown.value.map((card) => card.summary.value.name);
  return { board, clock, server, names };
}

Deno.test("board: waits a minute after what a server rendered whose clock may be ahead, and keeps the order on a poll", async () => {
  for (const renderedAt of [0, 3_600_000]) {
    const { board, clock, server, names } = boardOf([summary({ name: "a" }), summary({ name: "b" })], {}, renderedAt);
    board.start();
    await clock.pass(59);
    assert.deepEqual(server.asked, []);
    server.jobs = [summary({ name: "b" }), summary({ name: "a", phase: "Succeeded" })];
    await clock.pass(2);
    assert.deepEqual(server.asked, ["list 20"]);
    assert.deepEqual([names(), board.drifted.value], [["a", "b"], true]);
  }
});

Deno.test("board: a component that creates it while it renders need not render again for it", () => {
  let renders = 0;
  const stop = effect(() => {
    renders++;
    boardOf([summary({ name: "a" })]);
  });
  stop();
  assert.equal(renders, 1);
});

Deno.test("board: another filter than that of the page shows what is known, until all are", async () => {
  const jobs = Array.from({ length: 60 }, (_, i) => summary({ name: `c${i}` }));
  const { board, names, clock } = boardOf(jobs);
  board.show({ ...ALL, filter: { ...NO_FILTER, text: "c5" } });
  assert.deepEqual([names().length, board.unread.value], [1, 0]);
  board.start();
  await clock.pass(0);
  assert.equal(names().length, 11);
  assert.equal(board.overview.value.segments.all, 11);
});

Deno.test("board: another order holds over polls, but for new campaigns, which take their place", async () => {
  const { board, clock, server, names } = boardOf([summary({ name: "b" }), summary({ name: "c" })]);
  board.start();
  board.show({ ...ALL, sort: "name" });
  server.jobs = [...server.jobs, summary({ name: "a" })];
  await clock.pass(61);
  assert.deepEqual(names(), ["a", "b", "c"]);
  board.show(ALL);
  assert.deepEqual(names(), ["a", "b", "c"], "equal campaigns stay");
});

Deno.test("board: campaigns that fall into trouble are announced once, by name", async () => {
  const { board, clock, server } = boardOf([summary({ name: "a" }), summary({ name: "b" })]);
  board.start();
  server.jobs = [summary({ name: "a", phase: "Failed" }), summary({ name: "b" })];
  await clock.pass(60);
  assert.equal(board.announcement.value, "a is in trouble.");
  server.jobs = [summary({ name: "a", phase: "Failed" }), summary({ name: "b", phase: "Failed" })];
  await clock.pass(60);
  assert.equal(board.announcement.value, "b is in trouble.");
});

Deno.test("board: sorts again when the reader returns to the tab", async () => {
  const { board, server, names } = boardOf([summary({ name: "a" }), summary({ name: "b" })]);
  board.start();
  board.setHidden(true);
  server.jobs = [summary({ name: "a", phase: "Succeeded" }), summary({ name: "b" })];
  board.setHidden(false);
  await settled();
  assert.deepEqual(names(), ["b", "a"]);
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
});

Deno.test("board: older campaigns asked for during a read come with the next one, and stay", async () => {
  const older = (count: number) =>
    Array.from({ length: count }, (_, i) => summary({ name: `o${i}`, phase: "Succeeded", jobGone: true }));
  const ends: (() => void)[] = [];
  const { board, clock, names } = boardOf(older(20), {
    async list(reaped) {
      await new Promise<void>((resolve) => ends.push(resolve));
      return { kind: "ok", value: { jobs: older(reaped), skipped: 0, reapedTotal: 50, ageSeconds: null } };
    },
  });
  board.start();
  await clock.pass(61);
  board.showOlder();
  await settled();
  assert.equal(ends.length, 1);
  ends[0]();
  await settled();
  assert.equal(board.loadingOlder.value, true);
  ends[1]();
  await settled();
  assert.equal(board.loadingOlder.value, false);
  assert.equal(names().length, 40);
  assert.equal(ends.length, 2);
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
});

Deno.test("card: opened again after it was read folded, it reads its volumes at once, and until they are whole", async () => {
  const job = summary({ name: "a" });
  const { board, clock, server } = boardOf([job]);
  const [card] = board.cards.value;
  card.setOnScreen(true);
  card.setOpen(true);
  await settled();
  card.setOpen(false);
  card.setOpen(true);
  await settled();
  assert.deepEqual(server.asked, ["a 0+200"], "fresh volumes are not read again");
  card.setOpen(false);
  server.jobs = [summary({ name: "a", phase: "Succeeded" })];
  await clock.pass(121);
  assert.equal(card.summary.value.phase, "Succeeded");
  card.setOpen(true);
  await settled();
  assert.deepEqual(server.asked, ["a 0+200", "a 0+1", "a 0+200"]);
  await clock.pass(600);
  assert.equal(server.asked.length, 3, "a campaign that is over is not read once its volumes are whole");
});

Deno.test("card: opened again in another phase or after a minute, it reads its volumes at once", async () => {
  const { board, clock, server } = boardOf([summary({ name: "a", phase: "Paused" })]);
  const [card] = board.cards.value;
  card.setOpen(true);
  await settled();
  card.setOpen(false);
  card.update(summary({ name: "a", phase: "Failed" }));
  card.setOpen(true);
  await settled();
  assert.equal(server.asked.length, 2);
  card.setOpen(false);
  await clock.pass(61);
  assert.equal(server.asked.length, 2);
  card.setOpen(true);
  await settled();
  assert.equal(server.asked.length, 3);
});

/** Six cards whose details are held: `began` has the reads so far, and each of `ends` lets one of them go on. */
function sixHeldCards() {
  const jobs = Array.from({ length: 6 }, (_, i) => summary({ name: `c${i}` }));
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const { board, clock } = boardOf(jobs, {
    async detail({ name }, { offset, limit }) {
      began.push(`${name} ${limit}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      return { kind: "ok", value: sampleDetail(summary({ name }), offset, limit) };
    },
  });
  return { board, clock, began, ends };
}

Deno.test("card: one that leaves the screen before its turn is not read until it comes back", async () => {
  const { board, clock, began, ends } = sixHeldCards();
  const cards = board.cards.value;
  for (const card of cards) card.setOnScreen(true);
  await clock.pass(1);
  assert.deepEqual(began, ["c0 1", "c1 1", "c2 1", "c3 1"]);
  cards[0].setOnScreen(false);
  cards[4].setOnScreen(false);
  for (const end of ends.splice(0)) end();
  await settled();
  assert.deepEqual(began.slice(4), ["c5 1"]);
  assert.notEqual(cards[0].detail.value, null, "a read that has begun is not thrown away");
  cards[4].setOnScreen(true);
  await clock.pass(1);
  assert.deepEqual(began.slice(5), ["c4 1"]);
  assert.equal(cards[4].trouble.value, null);
});

Deno.test("card: opened while it waits for its turn, it reads its volumes alone and first", async () => {
  const { board, clock, began, ends } = sixHeldCards();
  for (const card of board.cards.value) card.setOnScreen(true);
  await clock.pass(1);
  board.cards.value[5].setOpen(true);
  await settled();
  for (const end of ends.splice(0)) end();
  await settled();
  assert.deepEqual(began.slice(4), ["c5 200", "c4 1"]);
});

Deno.test("card: known whole while folded, it still asks for its volumes again when the first try fails", async () => {
  const { board, clock, server } = boardOf([summary({ name: "a", phase: "Succeeded" })]);
  const [card] = board.cards.value;
  card.setOnScreen(true);
  await clock.pass(1);
  server.isDown = true;
  card.setOpen(true);
  await settled();
  assert.equal(card.trouble.value?.sentence, "No.");
  server.isDown = false;
  await clock.pass(121);
  assert.deepEqual(server.asked, ["a 0+1", "a 0+200", "a 0+200"]);
  assert.deepEqual([card.volumes.value.length, card.trouble.value], [4, null]);
});

Deno.test("board: older campaigns that could not be read are no more of them at the next press", async () => {
  const { board, server } = boardOf([summary({ name: "a" })]);
  board.start();
  for (const press of [1, 2, 3]) {
    server.isDown = press === 1;
    board.showOlder();
    await settled();
  }
  assert.deepEqual(server.asked, ["list 40", "list 40", "list 60"]);
});

Deno.test("board: after an outage the cards that failed are read with the list", async () => {
  const { board, clock, server } = boardOf([summary({ name: "a" }), summary({ name: "b" })]);
  const [card, other] = board.cards.value;
  card.setOpen(true);
  other.setOnScreen(true);
  await clock.pass(1);
  server.isDown = true;
  await clock.pass(600);
  assert.deepEqual([card.trouble.value?.sentence, other.trouble.value?.sentence], ["No.", "No."]);
  server.isDown = false;
  board.readNow();
  await settled();
  assert.deepEqual([card.trouble.value, other.trouble.value], [null, null]);
});

Deno.test("board: on return to the tab open cards are read at once, but not those of a campaign that is over", async () => {
  const jobs = [summary({ name: "a" }), summary({ name: "b" }), summary({ name: "over", phase: "Succeeded" })];
  const { board, clock, server } = boardOf(jobs);
  const [a, b, over] = board.cards.value;
  a.setOpen(true);
  b.setOnScreen(true);
  over.setOpen(true);
  await clock.pass(1);
  board.setHidden(true);
  server.asked.length = 0;
  board.setHidden(false);
  await settled();
  assert.deepEqual(server.asked.toSorted(), ["a 0+200", "list 20"]);
});

Deno.test("card: what only the detail knows of a campaign outlasts a read of the list, in the same phase", async () => {
  const job = summary({ name: "a", qualityPrediction: false });
  const waiting = { code: "unschedulable", reason: "Unschedulable", message: null, since: null } as const;
  const { board } = boardOf([job], {
    detail: () =>
      Promise.resolve({ kind: "ok", value: { ...sampleDetail(job, 0, 4), waiting, qualityPrediction: true } }),
  });
  const [card] = board.cards.value;
  card.setOpen(true);
  await settled();
  card.update(job);
  assert.deepEqual([card.summary.value.waiting, card.summary.value.qualityPrediction], [waiting, true]);
  card.update({ ...job, phase: "Paused" });
  assert.deepEqual([card.summary.value.waiting, card.summary.value.qualityPrediction], [null, false]);
});
