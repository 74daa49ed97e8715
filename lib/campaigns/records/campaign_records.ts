import { LRUCache } from "lru-cache";
import { type BatchJob, keyOf } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import { compareText } from "@/lib/std/text.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import { timedCache } from "@/lib/std/caches.ts";
import { type Failures, isRecorded, summaryOf } from "./record_merge.ts";
import { type RecordOutcome, RecordRejected, type RecordWriter } from "./record_writer.ts";

/** Records written after one list. */
export const MAX_WRITES_PER_LIST = 20;
/** The pause of a namespace after the cluster rejected a write, ms. */
export const REJECTED_PAUSE_MS = 600_000;
/** The pause after a Job or record could not be read, which says nothing about writes, ms. */
export const UNREADABLE_PAUSE_MS = 10_000;
/** For this long after a detail's write its record is taken for unchanged, ms. */
export const DETAIL_LIFETIME_MS = 60_000;

/** Campaigns whose detail was shown and whose record waits to be written; further ones are dropped. */
const MAX_WAITING = 256;
const MAX_CACHED_RECORDS = 4096;

/** The live campaigns of a list and their status records. */
interface ListedRecords {
  readonly jobs: readonly BatchJob[];
  readonly statuses: readonly StatusRecord[];
}

/**
 * Updates the status records of live campaigns in the background: no response waits for a record or fails for one. There
 * is one instance in a process, and it writes one record at a time.
 */
export interface CampaignRecords {
  /** To be called with each list: writes what its records lack, newest campaigns first, up to the limit for a list. */
  listed(snapshot: ListedRecords): void;
  /** To be called with each detail of a live campaign and the newest of its failures. */
  shown(job: BatchJob, failures: Failures): void;
  /** Resolves when no record waits to be written. */
  idle(): Promise<void>;
}

interface CampaignRecordsOptions {
  readonly writer: RecordWriter;
  /** The same as the writer's. */
  readonly resultsUrl: string | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Creates the updater of status records; one for each process. */
export function campaignRecords(options: CampaignRecordsOptions): CampaignRecords {
  return new RecordUpdater(options);
}

interface Shown {
  readonly job: BatchJob;
  readonly failures: Failures;
}

class RecordUpdater implements CampaignRecords {
  readonly #options: CampaignRecordsOptions;
  /** Details whose record waits to be written, by campaign. */
  readonly #shown = new Map<string, Shown>();
  #listed: ListedRecords | null = null;
  /** The list whose records are all written. A source without changes returns the same list again. */
  #settled: ListedRecords | null = null;
  /** The end of the first pause of a namespace in that list, ms since 1970. */
  #settledUntil = Infinity;
  #work: Promise<void> | null = null;
  /** Jobs with an up-to-date record. A source that watches returns the same objects until one changes. */
  readonly #recorded = new WeakMap<BatchJob, StatusRecord>();
  /** By campaign: the summary and record version of the last comparison, whether or not it led to a write. */
  readonly #compared = new LRUCache<string, string>({ max: MAX_CACHED_RECORDS });
  /** By campaign: the summary and failures of the last write for a detail. */
  readonly #detailsWritten: LRUCache<string, string>;
  readonly #pausedUntil = new Map<string, number>();
  readonly #rejected = new Set<string>();

  constructor(options: CampaignRecordsOptions) {
    this.#options = options;
    this.#detailsWritten = timedCache("campaign_record_details", MAX_CACHED_RECORDS, DETAIL_LIFETIME_MS, options.now);
  }

  listed(snapshot: ListedRecords): void {
    if (snapshot === this.#settled && this.#options.now() < this.#settledUntil) return;
    this.#listed = snapshot;
    this.#start();
  }

  shown(job: BatchJob, failures: Failures): void {
    const key = keyOf(job.namespace, job.name);
    const written = this.#detailsWritten.get(key);
    if (written !== undefined && written === this.#contentOf(job, failures)) return;
    if (this.#isPaused(job.namespace) || (this.#shown.size >= MAX_WAITING && !this.#shown.has(key))) return;
    this.#shown.set(key, { job, failures });
    this.#start();
  }

  idle(): Promise<void> {
    return this.#work ?? Promise.resolve();
  }

  #start(): void {
    this.#work ??= this.#run();
  }

  async #run(): Promise<void> {
    // In a later turn, after the response.
    await new Promise((resolve) => setTimeout(resolve, 0));
    while (this.#shown.size > 0 || this.#listed) {
      const [first] = this.#shown;
      if (first) {
        this.#shown.delete(first[0]);
        await this.#writeShown(first[1]);
      } else if (this.#listed) {
        const snapshot = this.#listed;
        this.#listed = null;
        await this.#writeListed(snapshot);
      }
    }
    this.#work = null;
  }

  async #writeShown({ job, failures }: Shown): Promise<void> {
    const outcome = await this.#write(job, failures);
    if (outcome !== "written" && outcome !== "unchanged") return;
    this.#detailsWritten.set(keyOf(job.namespace, job.name), this.#contentOf(job, failures));
  }

  async #writeListed(snapshot: ListedRecords): Promise<void> {
    const behind = this.#behind(snapshot);
    for (const { job, what } of behind.slice(0, MAX_WRITES_PER_LIST)) {
      if (await this.#write(job, null)) this.#compared.set(keyOf(job.namespace, job.name), what);
    }
    if (behind.length > MAX_WRITES_PER_LIST) return;
    this.#settled = snapshot;
    this.#settledUntil = this.#nextTurn();
  }

  /** The campaigns whose record may be outdated, newest first; `what` is the key of the comparison. */
  #behind({ jobs, statuses }: ListedRecords): { readonly job: BatchJob; readonly what: string }[] {
    const records = new Map(statuses.map((status) => [keyOf(status.namespace, status.job), status]));
    const behind = jobs.flatMap((job) => {
      if (job.kind !== "campaign" || this.#isPaused(job.namespace)) return [];
      const record = records.get(keyOf(job.namespace, job.name));
      if (record && this.#recorded.get(job) === record) return [];
      const fresh = summaryOf(job, this.#options.resultsUrl);
      if (record && isRecorded(record, fresh)) {
        this.#recorded.set(job, record);
        return [];
      }
      const what = JSON.stringify([fresh, record?.version]);
      return this.#compared.get(keyOf(job.namespace, job.name)) === what ? [] : [{ job, what }];
    });
    return behind.sort((a, b) => compareText(b.job.createdAt, a.job.createdAt));
  }

  /** Null when the write was skipped or failed. */
  async #write(job: BatchJob, failures: Failures | null): Promise<RecordOutcome | null> {
    const { namespace } = job;
    if (this.#isPaused(namespace)) return null;
    try {
      const outcome = await this.#options.writer.write(job, failures);
      if (outcome === "written") this.#rejected.delete(namespace);
      this.#pausedUntil.delete(namespace);
      return outcome;
    } catch (error) {
      this.#pause(namespace, error);
      return null;
    }
  }

  #isPaused(namespace: string): boolean {
    return this.#options.now() < (this.#pausedUntil.get(namespace) ?? -Infinity);
  }

  #nextTurn(): number {
    const now = this.#options.now();
    return Math.min(Infinity, ...[...this.#pausedUntil.values()].filter((until) => until > now));
  }

  /** A rejection is logged once for each namespace until a write succeeds again. */
  #pause(namespace: string, error: unknown): void {
    const { log, now } = this.#options;
    const isRejected = error instanceof RecordRejected;
    if (isRejected && !this.#rejected.has(namespace)) {
      this.#rejected.add(namespace);
      log.write({ level: "warn", unwritten_records: namespace, error: error.message });
    }
    this.#pausedUntil.set(namespace, now() + (isRejected ? REJECTED_PAUSE_MS : UNREADABLE_PAUSE_MS));
  }

  #contentOf(job: BatchJob, failures: Failures): string {
    return JSON.stringify([summaryOf(job, this.#options.resultsUrl), [...failures]]);
  }
}
