import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";

import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { OPEN_CARD_SECONDS, readEvery } from "@/lib/presentation/reading_plan.ts";
import { SENTENCES } from "@/lib/presentation/page_sentences.ts";
import type { Answer, CampaignApi } from "./campaign_api.ts";
import { type Clock, Poller } from "./poller.ts";
import type { ReadQueue } from "./read_queue.ts";

/** Volumes that an open card shows at first, and that "load more" adds. */
export const VOLUMES_PAGE = 200;
/** Volumes of one read (spec, Limits). */
const MAX_VOLUMES_READ = 1000;

interface CardDeps {
  readonly api: CampaignApi;
  readonly queue: ReadQueue;
  readonly clock: Clock;
  /** The session has ended. */
  readonly onLogin: () => void;
}

/** Why a card shows old figures. */
export interface CardTrouble {
  readonly sentence: string;
  /** The last good read, ms since 1970; null: there was none. */
  readonly asOf: number | null;
}

/** One campaign in the browser: its summary, its detail once that was read, and whether it is open. */
export class CardStore {
  readonly summary: Signal<JobSummary>;
  readonly detail = signal<JobDetail | null>(null);
  /** Volumes loaded so far, in order. */
  readonly volumes = signal<readonly VolumeView[]>([]);
  readonly open = signal(false);
  readonly trouble = signal<CardTrouble | null>(null);
  readonly loadingMore = signal(false);
  /** How many volumes can still be loaded. */
  readonly remaining: ReadonlySignal<number>;

  readonly #deps: CardDeps;
  readonly #poller: Poller;
  readonly #ended = new AbortController();
  #onScreen = false;
  /** Its read has not had its turn yet. */
  #waiting = false;
  #readAt: number | null = null;
  /** The newest read that brought the volumes on show, ms since 1970: a folded card's read leaves them as they were. */
  #rows: { readonly detail: JobDetail; readonly readAt: number } | null = null;

  constructor(summary: JobSummary, deps: CardDeps) {
    this.summary = signal(summary);
    this.#deps = deps;
    this.#poller = new Poller((signal, urgent) => this.#readAll(signal, urgent), deps.clock);
    this.remaining = computed(() => Math.max(0, this.summary.value.counts.total - this.volumes.value.length));
  }

  /** A newer summary from the list. */
  update(summary: JobSummary): void {
    this.summary.value = summary;
    this.#plan();
  }

  setOpen(open: boolean): void {
    if (this.open.value === open) return;
    this.open.value = open;
    if (open && !this.#hasFreshRows()) {
      if (this.#waiting) this.#poller.abandon();
      this.#poller.readNow();
    }
    this.#plan();
  }

  setOnScreen(onScreen: boolean): void {
    this.#onScreen = onScreen;
    this.#plan();
  }

  pause(paused: boolean): void {
    this.#poller.pause(paused);
  }

  stop(): void {
    this.#ended.abort();
    this.#poller.stop();
  }

  /** Reads the next volumes and adds them to those that are there. */
  async loadMore(): Promise<void> {
    if (this.loadingMore.value) return;
    this.loadingMore.value = true;
    const offset = this.volumes.value.length;
    try {
      const answer = await this.#read({ offset, limit: VOLUMES_PAGE }, this.#ended.signal, true);
      if (answer.kind !== "ok") this.#failed(answer);
      else if (offset === this.volumes.value.length) {
        this.volumes.value = [...this.volumes.value, ...answer.value.volumes];
      }
    } catch {
      // The card is gone.
    } finally {
      this.loadingMore.value = false;
    }
  }

  #plan(): void {
    const sight = { open: this.open.value, onScreen: this.#onScreen };
    const known = sight.open ? this.#rows?.detail ?? null : this.detail.value;
    this.#poller.repeat(readEvery(this.summary.value, known, sight));
    // Its turn belongs to a card that is looked at.
    if (!sight.open && !sight.onScreen && this.#waiting) this.#poller.abandon();
  }

  #hasFreshRows(): boolean {
    if (this.#rows === null) return false;
    const age = this.#deps.clock.now() - this.#rows.readAt;
    return age >= 0 && age <= OPEN_CARD_SECONDS * 1000 && this.#rows.detail.phase === this.summary.value.phase;
  }

  /** A folded card asks for one volume: it shows none, and the sums cover all of them anyway. */
  async #readAll(signal: AbortSignal, urgent: boolean): Promise<boolean> {
    const isOpen = this.open.value;
    const loaded = this.volumes.value.length;
    const limit = isOpen ? Math.min(Math.max(loaded, VOLUMES_PAGE), MAX_VOLUMES_READ) : 1;
    this.#waiting = true;
    const answer = await this.#read({ offset: 0, limit }, signal, urgent || isOpen, () => this.#waiting = false)
      .finally(() => this.#waiting = false);
    if (signal.aborted) return false;
    if (answer.kind !== "ok") {
      this.#failed(answer);
      return false;
    }
    const { value } = answer;
    this.#readAt = this.#deps.clock.now();
    this.trouble.value = null;
    this.detail.value = value;
    if (isOpen) {
      this.volumes.value = [...value.volumes, ...this.volumes.value.slice(value.volumes.length)];
      this.#rows = { detail: value, readAt: this.#readAt };
    }
    this.summary.value = value;
    this.#plan();
    return true;
  }

  #read(
    page: { offset: number; limit: number },
    signal: AbortSignal,
    urgent: boolean,
    onTurn: () => void = () => {},
  ): Promise<Answer<JobDetail>> {
    const { api, queue } = this.#deps;
    const read = () => {
      onTurn();
      return api.detail(this.summary.value, page, signal);
    };
    return queue.run(read, { urgent, signal });
  }

  #failed(answer: Exclude<Answer<JobDetail>, { kind: "ok" }>): void {
    if (answer.kind === "login") this.#deps.onLogin();
    else {
      const sentence = answer.kind === "gone" ? SENTENCES.campaignGone : answer.sentence;
      this.trouble.value = { sentence, asOf: this.#readAt };
    }
  }
}
