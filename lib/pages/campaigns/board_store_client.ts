import { batch, computed, type Signal, signal } from "@preact/signals";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { BOARD_SENTENCES } from "./campaign_sentences.ts";
import {
  type CampaignFilter,
  campaignKey,
  endMs,
  hasDrifted,
  keptOrder,
  type ListAddress,
  type ListPage,
  matches,
  olderCount,
  type Order,
  overviewOf,
  type Sort,
  sorted,
  withOlder,
} from "./campaign_filter.ts";
import { isInTrouble } from "./campaign_state.ts";
import { SENTENCES } from "@/lib/pages/page_sentences.ts";
import type { Answer, CampaignList } from "./campaign_api_client.ts";
import { type CardDeps, CardStore, type StoredView } from "./card_store_client.ts";
import { Poller } from "@/lib/pages/browser/poller_client.ts";
import { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";

/** Seconds between two reads of the list (spec, Limits). */
const LIST_SECONDS = 60;
/** Card reads under way at once (spec, Limits). */
const MAX_CARD_READS = 4;

interface BoardDeps extends Omit<CardDeps, "queue"> {
  /** Called just before cards that are shown change their places. */
  readonly onOrder: () => void;
}

/** The first cards of a list, or all of them, as the server rendered them. */
export interface FirstList extends ListPage {
  readonly reapedTotal: number;
  /** ms since 1970 */
  readonly readAt: number;
  /** Since when the cluster has not answered, ms since 1970; null: it answers. */
  readonly staleSince: number | null;
}

/** The list of campaigns in the browser: its cards in the order the reader sees, its filter, and its repeated reads. */
export class BoardStore {
  readonly cards = signal<readonly CardStore[]>([]);
  readonly reapedTotal = signal(0);
  /** Rows of the list that could not be read. */
  readonly skipped = signal(0);
  /** The last good read, ms since 1970. */
  readonly readAt = signal<number | null>(null);
  /** Since when the cluster has not answered the server, ms since 1970; null: it answers. */
  readonly staleSince = signal<number | null>(null);
  /** Why the list is not the newest, and when it is read again, ms since 1970. */
  readonly trouble = signal<{ readonly sentence: string; readonly nextAt: number | null } | null>(null);
  /** Whether the list is being read. */
  readonly reading = signal(false);
  readonly loadingOlder = signal(false);
  readonly filter: Signal<CampaignFilter>;
  readonly sort: Signal<Sort>;
  /** Limit of campaigns without a Job for the next read. */
  readonly reaped: Signal<number>;
  /** Campaigns that fell into trouble since the page was opened, the newest of them in words. */
  readonly announcement = signal("");

  readonly jobs = computed(() => this.cards.value.map(({ summary }) => summary.value));
  readonly shown = computed(() => this.cards.value.filter(({ summary }) => matches(summary.value, this.filter.value)));
  readonly overview = computed(() => this.#first.value?.overview ?? overviewOf(this.jobs.value, this.filter.value));
  /** Campaigns that pass the filter and have not been read yet. */
  readonly unread = computed(() => {
    const first = this.#first.value;
    return first && this.filter.value === this.#firstFilter ? first.matching - this.shown.value.length : 0;
  });
  readonly drifted = computed(() => this.#first.value === null && hasDrifted(this.jobs.value, this.#order()));
  /** Campaigns without a Job that wait behind "show older". */
  readonly older = computed(() => olderCount(this.reapedTotal.value, this.overview.value.reaped));
  /** Whether names are ambiguous without their namespace. */
  readonly spansNamespaces = computed(() => this.overview.value.namespaces.length > 1);

  readonly #deps: BoardDeps;
  readonly #queue = new ReadQueue(MAX_CARD_READS);
  readonly #poller: Poller;
  /** The newest list by key. A card may have newer data from reading its detail. */
  #listed: ReadonlyMap<string, JobSummary> = new Map();
  /** The server-rendered part, until the whole list has been read. */
  readonly #first = signal<FirstList | null>(null);
  readonly #firstFilter: CampaignFilter;
  /** `reaped` of the last successful read. */
  #held: number;
  /** Views to restore when the reader returns to the list, by the keys of the cards. */
  #views: ReadonlyMap<string, StoredView> = new Map();
  #reopens = false;
  #sortNext = false;
  #hidden = false;

  constructor(first: FirstList | null, { filter, sort, reaped }: ListAddress, deps: BoardDeps) {
    this.#deps = deps;
    this.filter = signal(filter);
    this.sort = signal(sort);
    this.reaped = signal(reaped);
    this.#held = reaped;
    this.#firstFilter = filter;
    this.#poller = new Poller((signal) => this.#read(signal), deps.clock, (dueAt) => {
      if (this.trouble.value) this.trouble.value = { ...this.trouble.value, nextAt: dueAt };
    });
    if (!first) return;
    if (first.jobs.length < first.overview.campaigns) this.#first.value = first;
    this.#show({ ...first, skipped: 0, ageSeconds: null }, first.readAt, first.jobs);
    this.staleSince.value = first.staleSince;
  }

  /** Filter, order and length of the list, as in the address of the page. */
  get address(): ListAddress {
    return { filter: this.filter.value, sort: this.sort.value, reaped: this.reaped.value };
  }

  /** Begins the repeated reads: at once where cards are missing, else when its time comes. */
  start(): void {
    // `readAt` may be by the server's clock, which may be ahead of this one.
    const { clock } = this.#deps;
    if (this.readAt.value !== null && this.#first.value === null) {
      this.#poller.startFrom(Math.min(this.readAt.value, clock.now()));
    }
    this.#poller.repeat(LIST_SECONDS);
  }

  stop(): void {
    this.#poller.stop();
    for (const card of this.cards.value) card.stop();
  }

  /** A hidden tab reads nothing. When it is visible again, the list is read and sorted. */
  setHidden(hidden: boolean): void {
    this.#hidden = hidden;
    this.#sortNext = !hidden;
    this.#poller.pause(hidden);
    for (const card of this.cards.value) {
      // Before it resumes, so that a missed read is not repeated.
      if (!hidden) card.readAgain({ returned: true });
      card.pause(hidden);
    }
    if (!hidden) this.#poller.readNow();
  }

  /** Reads the list now, as after an outage, and the cards that could not be read. */
  readNow(): void {
    this.#poller.readNow();
    for (const card of this.cards.value) card.readAgain({ returned: false });
  }

  /** The cards that are open, by their keys. */
  storedViews(): ReadonlyMap<string, StoredView> {
    const open = this.cards.value.filter((card) => card.open.value);
    return new Map(open.map((card) => [campaignKey(card.summary.value), card.storedView]));
  }

  /**
   * Restores the views of cards, also of cards that are read later.
   *
   * @param reopens whether to open them
   */
  restoreViews(views: ReadonlyMap<string, StoredView>, reopens: boolean): void {
    this.#views = views;
    this.#reopens = reopens;
    for (const card of this.cards.value) this.#restoreView(card);
  }

  #restoreView(card: CardStore): void {
    const view = this.#views.get(campaignKey(card.summary.value));
    if (!view) return;
    card.restoreView(view);
    if (this.#reopens) card.setOpen(true);
  }

  /** Puts the cards in the order of a fresh list. */
  sortAgain(): void {
    this.#arrange(sorted(this.jobs.value, this.#order()));
  }

  /** Shows other campaigns, or the same in another order. */
  show({ filter, sort, reaped }: ListAddress): void {
    if (reaped > this.reaped.peek()) this.#readOlder(reaped);
    batch(() => {
      this.filter.value = filter;
      if (this.sort.peek() === sort) return;
      this.sort.value = sort;
      this.sortAgain();
    });
  }

  /** Asks for more campaigns without a Job, from this read of the list on. */
  showOlder(): void {
    this.#readOlder(withOlder(this.address).reaped);
  }

  #readOlder(reaped: number): void {
    this.loadingOlder.value = true;
    this.reaped.value = reaped;
    this.#poller.readNow();
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const wanted = this.reaped.value;
    this.reading.value = true;
    const answer = await this.#deps.api.list(wanted, signal);
    this.reading.value = false;
    if (signal.aborted) return false;
    // A read that began before the reader requested older ones does not have them.
    if (wanted === this.reaped.value) this.loadingOlder.value = false;
    if (answer.kind !== "ok") {
      // The button then shows how many campaigns the next click adds.
      if (wanted === this.reaped.value) this.reaped.value = this.#held;
      this.#failed(answer);
      return false;
    }
    this.#held = wanted;
    this.#take(answer.value);
    return true;
  }

  #order(): Order {
    const sort = this.sort.value;
    if (sort !== "end") return { sort, endOf: () => null };
    const ends = new Map(this.cards.value.map((card) => [campaignKey(card.summary.value), endMs(card.detail.value)]));
    return { sort, endOf: (job) => ends.get(campaignKey(job)) ?? null };
  }

  #announce(before: readonly JobSummary[], jobs: readonly JobSummary[]): void {
    if (this.#first.value) return;
    const troubled = new Set(before.filter(isInTrouble).map(campaignKey));
    const names = jobs.filter((job) => isInTrouble(job) && !troubled.has(campaignKey(job))).map(({ name }) => name);
    if (names.length > 0) this.announcement.value = BOARD_SENTENCES.troubled(names);
  }

  #take(list: CampaignList): void {
    const before = this.jobs.value.map((job) => this.#listed.get(campaignKey(job)) ?? job);
    const order = this.#sortNext ? sorted(list.jobs, this.#order()) : keptOrder(before, list.jobs, this.#order());
    this.#sortNext = false;
    this.#announce(before, list.jobs);
    batch(() => {
      this.#first.value = null;
      this.#show(list, this.#deps.clock.now(), order);
    });
  }

  #show(list: CampaignList, readAt: number, order: readonly JobSummary[]): void {
    this.#listed = new Map(list.jobs.map((job) => [campaignKey(job), job]));
    batch(() => {
      this.readAt.value = readAt;
      this.staleSince.value = list.ageSeconds === null ? null : readAt - list.ageSeconds * 1000;
      this.reapedTotal.value = list.reapedTotal;
      this.skipped.value = list.skipped;
      this.trouble.value = null;
      this.#arrange(order);
    });
  }

  #arrange(order: readonly JobSummary[]): void {
    // Not `value`: the island that creates the store while it renders would be subscribed, and render a second time.
    const before = this.cards.peek();
    const known = new Map(before.map((card) => [campaignKey(card.summary.value), card]));
    const cards = order.map((job) => {
      const card = known.get(campaignKey(job));
      known.delete(campaignKey(job));
      if (!card) return this.#newCard(job);
      card.update(job);
      return card;
    });
    for (const gone of known.values()) gone.stop();
    if (cards.length === before.length && cards.every((card, place) => card === before[place])) return;
    if (before.length > 0) this.#deps.onOrder();
    this.cards.value = cards;
  }

  #newCard(job: JobSummary): CardStore {
    const card = new CardStore(job, { ...this.#deps, queue: this.#queue });
    card.pause(this.#hidden);
    this.#restoreView(card);
    return card;
  }

  #failed(answer: Exclude<Answer<CampaignList>, { kind: "ok" }>): void {
    if (answer.kind === "login") return this.#deps.onLogin();
    const sentence = answer.kind === "gone" ? SENTENCES.noList : answer.sentence;
    this.trouble.value = { sentence, nextAt: this.#poller.dueAt };
  }
}
