import assert from "node:assert/strict";
import {
  campaignNews,
  type CampaignState,
  MAX_REMEMBERED,
  readRemembered,
  rememberedText,
} from "@/lib/operations/notifications/campaign_news.ts";
import type { EventType } from "@/lib/operations/notifications/event.ts";

const NOW = Date.UTC(2026, 5, 1, 12);
const RUNNING: CampaignState = {
  namespace: "batch",
  name: "letters",
  pipeline: "p",
  phase: "Running",
  isEnded: false,
  isInTrouble: false,
  counts: { total: 10, done: 4, failed: 0 },
  warmup: { phase: "succeeded" },
  createdAt: "2026-06-01T08:00:00Z",
  finishedAt: null,
  link: null,
};
const SUCCEEDED = { ...RUNNING, phase: "Succeeded", isEnded: true, finishedAt: "2026-06-01T11:00:00Z" };
const FAILED = { ...SUCCEEDED, phase: "PartiallyFailed", isInTrouble: true };
const NO_WARMUP = { ...RUNNING, isInTrouble: true, warmup: { phase: "failed" } };

const all = () => true;
const first = (...campaigns: CampaignState[]) => campaignNews(null, campaigns, all, NOW).remembered;
const types = (...args: Parameters<typeof campaignNews>) => campaignNews(...args).events.map(({ type }) => type);

Deno.test("campaign news: what was so at the first look is none", () => {
  assert.deepEqual(types(null, [RUNNING, { ...FAILED, name: "b" }, { ...NO_WARMUP, name: "c" }], all, NOW), []);
});

Deno.test("campaign news: an end is one event, trouble where it failed, and no second one", () => {
  const before = first(RUNNING);
  const ended = campaignNews(before, [SUCCEEDED], all, NOW);
  assert.deepEqual(ended.events.map(({ type }) => type), ["campaign.ended"]);
  assert.equal(ended.events[0].timestamp, "2026-06-01T11:00:00.000Z");
  assert.match(ended.events[0].subject, /letters has ended: it succeeded/);
  assert.deepEqual(types(ended.remembered, [SUCCEEDED], all, NOW), []);
  assert.deepEqual(types(before, [FAILED], all, NOW), ["campaign.trouble"]);
});

Deno.test("campaign news: who wants ends alone hears of those in trouble too", () => {
  const wants = (type: EventType) => type === "campaign.ended";
  assert.deepEqual(types(first(RUNNING), [FAILED], wants, NOW), ["campaign.ended"]);
});

Deno.test("campaign news: trouble with the warm-up is told, and the end after it", () => {
  const trouble = campaignNews(first(RUNNING), [NO_WARMUP], all, NOW);
  assert.deepEqual(trouble.events.map(({ type }) => type), ["campaign.trouble"]);
  assert.match(trouble.events[0].summary, /its warm-up failed/);
  const ended = campaignNews(trouble.remembered, [FAILED], all, NOW);
  assert.equal(ended.events.length, 1);
  assert.notEqual(ended.events[0].id, trouble.events[0].id);
});

Deno.test("campaign news: one that came and ended between two looks is told, an old one that comes back is not", () => {
  const before = first(RUNNING);
  const short = { ...SUCCEEDED, name: "short", finishedAt: new Date(NOW + 1000).toISOString() };
  const old = { ...SUCCEEDED, name: "old", finishedAt: "2026-05-01T00:00:00Z" };
  const unknown = { ...SUCCEEDED, name: "unknown", finishedAt: null };
  const { events } = campaignNews(before, [RUNNING, short, old, unknown], all, NOW + 5000);
  assert.deepEqual(events.map(({ data }) => data.name), ["short"]);
});

Deno.test("campaign news: a name that is used again is another campaign", () => {
  const before = first(SUCCEEDED);
  const again = { ...RUNNING, createdAt: "2026-06-01T11:30:00Z" };
  const running = campaignNews(before, [again], all, NOW).remembered;
  const { events } = campaignNews(running, [{ ...again, phase: "Succeeded", isEnded: true }], all, NOW);
  assert.equal(events.length, 1);
  assert.notEqual(events[0].id, campaignNews(first(RUNNING), [SUCCEEDED], all, NOW).events[0].id);
});

Deno.test("campaign news: what is remembered survives as text, is bounded, and is the same object without a change", () => {
  const many = Array.from({ length: MAX_REMEMBERED + 10 }, (_, n) => ({ ...RUNNING, name: `c${n}` }));
  const remembered = first(...many);
  assert.equal(remembered.seen.size, MAX_REMEMBERED);
  assert.deepEqual(readRemembered(rememberedText(remembered)), remembered);
  const before = first(RUNNING);
  assert.equal(campaignNews(before, [RUNNING], all, NOW + 1).remembered, before);
  for (const text of [null, "", "{}", '{"at":1,"seen":{"a":"else"}}']) assert.equal(readRemembered(text), null);
});
