import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";

import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { CARD } from "./campaign_sentences.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { isSettled, isWhole } from "./campaign_state.ts";
import { SENTENCES } from "@/lib/pages/page_sentences.ts";
import { MAX_FAILURES } from "./campaign_problems.ts";
import { isFilter, type VolumeSegment } from "./volume_filter.ts";
import type { Answer, CampaignApi } from "./campaign_api_client.ts";
import { type Clock, Poller } from "@/lib/pages/browser/poller_client.ts";
import type { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";

/** Volumes that an open card shows at first, and that "load more" adds. */
export const VOLUMES_PAGE = 200;
/** Volumes of one read (spec, Limits). */
export const MAX_VOLUMES_READ = 1000;

/** Seconds between two reads of an open card. */
const OPEN_CARD_SECONDS = 60;
/** Seconds between two reads of a folded card that is on screen (spec, Limits). */
const FOLDED_CARD_SECONDS = 120;

export interface CardDeps {
  readonly api: CampaignApi;
  readonly queue: ReadQueue;
  readonly clock: Clock;
  /** The session has ended. */
  readonly onLogin: () => void;
}

/** View state of a card, which outlives its component. */
interface CardView {
  readonly segment: VolumeSegment;
  readonly text: string;
  /** More than a screenful is shown. */
  readonly isExpanded: boolean;
  /** All problems are shown, not only the first ones. */
  readonly hasAllProblems: boolean;
  /** The pipeline's document is shown. */
  readonly hasPipeline: boolean;
}
const FIRST_VIEW: CardView = { segment: "all", text: "", isExpanded: false, hasAllProblems: false, hasPipeline: false };

type RowRange = Parameters<CampaignApi["detail"]>[1];

/** The view of a card, restored when the reader returns. */
export interface StoredView extends CardView {
  /** Volumes that were loaded. */
  readonly rows: number;
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
  /** All volumes are being read. */
  readonly loadingAll = signal(false);
  /** Why the file of failed volumes was not saved, or is incomplete; null: no problem. */
  readonly failedProblem = signal<string | null>(null);
  readonly view = signal(FIRST_VIEW);
  /** Rows that the campaign's list of volumes was seen to have; null: as many as the Job counts. */
  readonly #rowsTotal = signal<number | null>(null);
  /** How many volumes can still be loaded. */
  readonly remaining: ReadonlySignal<number>;

  readonly #deps: CardDeps;
  readonly #poller: Poller;
  readonly #ended = new AbortController();
  /** Volumes that the reader had loaded before they came back. */
  #rowsBefore = 0;
  #all: Promise<readonly VolumeView[] | null> | null = null;
  #onScreen = false;
  /** Its read is waiting in the queue. */
  #waiting = false;
  #readAt: number | null = null;
  /** The newest read of the shown volumes, and its time, ms since 1970. Reads of a folded card do not include them. */
  #rows: { readonly detail: JobDetail; readonly readAt: number } | null = null;
  /** The page of volumes, from 1, that is read again beside the first one. */
  #furtherPage = 1;

  constructor(summary: JobSummary, deps: CardDeps) {
    this.summary = signal(summary);
    this.#deps = deps;
    this.#poller = new Poller((signal, urgent) => this.#readAll(signal, urgent), deps.clock);
    this.remaining = computed(() =>
      Math.max(0, (this.#rowsTotal.value ?? this.summary.value.counts.total) - this.volumes.value.length)
    );
  }

  /** A newer summary from the list. */
  update(summary: JobSummary): void {
    this.summary.value = withDetail(summary, this.detail.value);
    this.#plan();
  }

  look(change: Partial<CardView>): void {
    this.view.value = { ...this.view.value, ...change };
  }

  get storedView(): StoredView {
    return { ...this.view.value, rows: Math.max(this.volumes.value.length, this.#rowsBefore) };
  }

  /** Lets the reader look at the card as before. */
  restoreView({ rows, ...view }: StoredView): void {
    this.view.value = view;
    this.#rowsBefore = rows;
  }

  /** Reads a card again that an outage or a hidden tab left outdated: one with trouble, and on return an open one. */
  readAgain({ returned }: { readonly returned: boolean }): void {
    const isRepeated = this.open.value && this.#poller.dueAt !== null;
    if (this.trouble.value || (returned && isRepeated)) this.#poller.readNow();
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
      const detail = await this.#readShown({ offset, limit: VOLUMES_PAGE }, this.#ended.signal, true);
      if (detail) this.#takeRows(offset, VOLUMES_PAGE, detail.volumes);
    } catch {
      // The card is gone.
    } finally {
      this.loadingMore.value = false;
    }
  }

  /**
   * All volumes: those that are not loaded are read, several pages at a time.
   *
   * @returns null where a read failed
   */
  loadAll(): Promise<readonly VolumeView[] | null> {
    this.loadingAll.value = true;
    return this.#all ??= this.#readRest().finally(() => {
      this.#all = null;
      this.loadingAll.value = false;
    });
  }

  /**
   * All failed volumes, of which the detail names the newest ones. Why there are not all of them is in `failedProblem`.
   *
   * @returns null where a read failed, or fewer came than have failed
   */
  async failedVolumes(): Promise<readonly VolumeView[] | null> {
    this.failedProblem.value = null;
    const named = this.detail.value?.failures ?? [];
    const { failed } = this.summary.value.counts;
    // An ended Job may have more failed volumes than it counts.
    const isWhole = named.length === failed || named.length > failed && named.length < MAX_FAILURES;
    if (isWhole) return named.toReversed();
    return await this.#readFailed().catch(() => null);
  }

  /** Reads from the first row on: rows that are loaded may have been read before their volumes failed. */
  async #readFailed(): Promise<readonly VolumeView[] | null> {
    const pages = Math.ceil(this.summary.value.counts.total / MAX_VOLUMES_READ);
    const answers = await Promise.all(
      Array.from(
        { length: pages },
        (_, page) => this.#read({ offset: page * MAX_VOLUMES_READ, limit: MAX_VOLUMES_READ }, this.#ended.signal, true),
      ),
    );
    const details: JobDetail[] = [];
    for (const answer of answers) {
      if (answer.kind === "ok") details.push(answer.value);
      else {
        if (answer.kind === "login") this.#deps.onLogin();
        else this.failedProblem.value = troubleSentence(answer);
        return null;
      }
    }
    const rows = details.flatMap(({ volumes }) => volumes).filter(({ state }) => state === "failed");
    // Volumes that fail during the reads may be missing.
    const count = Math.min(...details.map(({ counts }) => counts.failed));
    if (rows.length >= count) return rows;
    const isReaped = details.every(({ jobGone }) => jobGone);
    const words = isReaped ? CARD.failedNotNamed : CARD.failedNotRead;
    this.failedProblem.value = words(formatCount(rows.length), formatCount(count));
    // More is not on record of a campaign without a Job.
    return isReaped ? rows : null;
  }

  async #readRest(): Promise<readonly VolumeView[] | null> {
    const begin = this.volumes.value.length;
    const pages = Math.ceil(this.remaining.value / MAX_VOLUMES_READ);
    const offsets = Array.from({ length: pages }, (_, page) => begin + page * MAX_VOLUMES_READ);
    const early = new Map<number, readonly VolumeView[]>();
    const readPage = async (offset: number) => {
      const detail = await this.#readShown({ offset, limit: MAX_VOLUMES_READ }, this.#ended.signal, true);
      if (!detail) return false;
      early.set(offset, detail.volumes);
      // A page that comes before those above it waits for them.
      for (const [at, rows] of [...early].sort(([a], [b]) => a - b)) {
        if (at > this.volumes.value.length) break;
        this.#takeRows(at, MAX_VOLUMES_READ, rows);
        early.delete(at);
      }
      return true;
    };
    // A card that is gone ends its reads.
    const read = await Promise.all(offsets.map((offset) => readPage(offset).catch(() => false)));
    return read.every((good) => good) ? this.volumes.value : null;
  }

  /** Puts a page of rows in its place; a page that is not full is the last one. */
  #takeRows(offset: number, limit: number, rows: readonly VolumeView[]): void {
    const before = this.volumes.value;
    if (offset > before.length) return;
    batch(() => {
      this.volumes.value = [...before.slice(0, offset), ...rows, ...before.slice(offset + rows.length)];
      if (rows.length < limit) this.#rowsTotal.value = this.volumes.value.length;
    });
  }

  #plan(): void {
    const sight = { open: this.open.value, onScreen: this.#onScreen };
    const known = sight.open ? this.#rows?.detail ?? null : this.detail.value;
    this.#poller.repeat(readEvery(this.summary.value, known, sight));
    // Visible cards come first.
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
    const loaded = Math.max(this.volumes.value.length, this.#rowsBefore);
    const limit = isOpen ? Math.min(Math.max(loaded, VOLUMES_PAGE), MAX_VOLUMES_READ) : 1;
    this.#waiting = true;
    const value = await this.#readShown({ offset: 0, limit }, signal, urgent || isOpen, () => this.#waiting = false)
      .finally(() => this.#waiting = false);
    if (!value) return false;
    this.#readAt = this.#deps.clock.now();
    this.trouble.value = null;
    this.detail.value = value;
    if (isOpen) this.#takeRows(0, limit, value.volumes);
    this.summary.value = value;
    const isRead = !isOpen || await this.#readFurther(value, signal);
    if (isOpen && isRead) this.#rows = { detail: value, readAt: this.#readAt };
    this.#plan();
    if (isOpen && isRead && this.remaining.value > 0 && isFilter(this.view.value)) this.loadAll();
    return isRead;
  }

  /**
   * Reads loaded volumes again that are not in the first page: the next page in turn, and all of them in another phase,
   * which may be the last one that is read.
   *
   * @returns false where a read failed
   */
  async #readFurther({ phase }: JobDetail, signal: AbortSignal): Promise<boolean> {
    const loaded = this.volumes.value.length;
    const pages = Math.ceil(loaded / MAX_VOLUMES_READ) - 1;
    if (pages < 1) return true;
    const isSamePhase = this.#rows?.detail.phase === phase;
    for (let left = isSamePhase ? 1 : pages; left > 0; left--) {
      const page = this.#furtherPage > pages ? 1 : this.#furtherPage;
      const offset = page * MAX_VOLUMES_READ;
      const limit = Math.min(MAX_VOLUMES_READ, loaded - offset);
      const detail = await this.#readShown({ offset, limit }, signal, false);
      if (!detail) return false;
      this.#takeRows(offset, limit, detail.volumes);
      this.#furtherPage = page + 1;
    }
    return true;
  }

  /** Reads a page of volumes; null where it was aborted or failed, which the card then says. */
  async #readShown(
    page: RowRange,
    signal: AbortSignal,
    urgent: boolean,
    onTurn?: () => void,
  ): Promise<JobDetail | null> {
    const answer = await this.#read(page, signal, urgent, onTurn);
    if (signal.aborted) return null;
    if (answer.kind === "ok") return answer.value;
    if (answer.kind === "login") this.#deps.onLogin();
    else this.trouble.value = { sentence: troubleSentence(answer), asOf: this.#readAt };
    return null;
  }

  #read(
    page: RowRange,
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
}

/** A summary of the list with what only a detail knows: the wait for pods, and the quality in the pipeline's document. */
function withDetail(summary: JobSummary, detail: JobDetail | null): JobSummary {
  if (detail?.phase !== summary.phase) return summary;
  const waiting = summary.phase === "Running" ? detail.waiting : summary.waiting;
  return { ...summary, waiting, qualityPrediction: detail.qualityPrediction };
}

function troubleSentence(answer: Exclude<Answer<JobDetail>, { kind: "ok" | "login" }>): string {
  return answer.kind === "gone" ? SENTENCES.campaignGone : answer.sentence;
}

/**
 * Seconds between the reads of a card's detail, null for none. A campaign that is over is read until its sums cover every
 * volume, a folded one only while it runs and is on screen (spec, Limits).
 */
function readEvery(
  job: JobSummary,
  detail: JobDetail | null,
  { open, onScreen }: { open: boolean; onScreen: boolean },
): number | null {
  if (!open && !onScreen) return null;
  const isKnown = detail !== null && isWhole(detail) && detail.phase === job.phase;
  if (isSettled(job)) {
    if (isKnown) return null;
  } else if (!open && job.phase !== "Running") {
    // Nothing moves: one read tells what a paused campaign has done, and a queued one has done nothing.
    if (isKnown || job.phase === "Queued") return null;
  }
  return open ? OPEN_CARD_SECONDS : FOLDED_CARD_SECONDS;
}
