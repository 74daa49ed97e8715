import { LRUCache } from "lru-cache";
import type { BatchJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import { compareText } from "@/lib/std/text_order.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import { timedCache } from "@/lib/std/timed_cache.ts";
import { type Failures, isRecorded, summaryOf } from "./record_merge.ts";
import { type RecordOutcome, RecordRefused, type RecordWriter } from "./record_writer.ts";

/** Records written after one list. */
export const MAX_WRITES_PER_LIST = 20;
/** How long a namespace is left alone whose records could not be written, ms. */
export const REFUSAL_PAUSE_MS = 600_000;
/** The same where Job or record could not be read, which says nothing about writing, ms. */
export const UNREADABLE_PAUSE_MS = 10_000;
/** How long a record is trusted to say what it was told by a detail, ms. */
export const DETAIL_LIFETIME_MS = 60_000;

/** Campaigns whose detail was shown and whose record waits for its turn; beyond, the newcomer is dropped. */
const MAX_WAITING = 256;
const KNOWN_RECORDS = 4096;

/** The live campaigns of a list, and what is recorded of them. */
interface ListedRecords {
  readonly jobs: readonly BatchJob[];
  readonly statuses: readonly StatusRecord[];
}

/**
 * Keeps the status records of live campaigns up to date behind the answers that show them: nobody waits for a record,
 * and no answer fails for one. There is one in a process, and it writes one record at a time.
 */
export interface CampaignRecords {
  /** A list was read: writes what its records lack, newest campaigns first, as far as the limit for a list reaches. */
  listed(snapshot: ListedRecords): void;
  /** A live campaign's detail was read, with the newest of its failures. */
  shown(job: BatchJob, failures: Failures): void;
  /** Resolves when nothing waits to be written. */
  idle(): Promise<void>;
}

interface CampaignRecordsOptions {
  readonly writer: RecordWriter;
  /** As the writer has it. */
  readonly resultsUrl: string | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** The one keeper of records of a process. */
export function campaignRecords(options: CampaignRecordsOptions): CampaignRecords {
  return new Keeper(options);
}

interface Shown {
  readonly job: BatchJob;
  readonly failures: Failures;
}

class Keeper implements CampaignRecords {
  readonly #options: CampaignRecordsOptions;
  /** Waiting, by campaign. */
  readonly #shown = new Map<string, Shown>();
  #listed: ListedRecords | null = null;
  /** The list of which nothing is left to write; a source that knows of no change hands out the same one again. */
  #settled: ListedRecords | null = null;
  /** When a namespace that is left alone now gets its turn again, ms since 1970. */
  #settledUntil = Infinity;
  #work: Promise<void> | null = null;
  /** Jobs whose record says it all: a source that follows changes hands out the same objects until there is one. */
  readonly #recorded = new WeakMap<BatchJob, StatusRecord>();
  /** What was compared with a record of that version, and needed no write or could not be written. */
  readonly #compared = new LRUCache<string, string>({ max: KNOWN_RECORDS });
  /** What a record was written from when its detail was shown, by campaign. */
  readonly #told: LRUCache<string, string>;
  readonly #pausedUntil = new Map<string, number>();
  readonly #refused = new Set<string>();

  constructor(options: CampaignRecordsOptions) {
    this.#options = options;
    this.#told = timedCache(KNOWN_RECORDS, DETAIL_LIFETIME_MS, options.now);
  }

  listed(snapshot: ListedRecords): void {
    if (snapshot === this.#settled && this.#options.now() < this.#settledUntil) return;
    this.#listed = snapshot;
    this.#start();
  }

  shown(job: BatchJob, failures: Failures): void {
    const key = keyOf(job);
    const told = this.#told.get(key);
    if (told !== undefined && told === this.#tell(job, failures)) return;
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
    // A turn of its own, after the answer that is being made.
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
    this.#told.set(keyOf(job), this.#tell(job, failures));
  }

  async #writeListed(snapshot: ListedRecords): Promise<void> {
    const behind = this.#behind(snapshot);
    for (const { job, what } of behind.slice(0, MAX_WRITES_PER_LIST)) {
      if (await this.#write(job, null)) this.#compared.set(keyOf(job), what);
    }
    if (behind.length > MAX_WRITES_PER_LIST) return;
    this.#settled = snapshot;
    this.#settledUntil = this.#nextTurn();
  }

  /** The campaigns whose record may lack something, newest first; what they would be told of names the record's version. */
  #behind({ jobs, statuses }: ListedRecords): { readonly job: BatchJob; readonly what: string }[] {
    const records = new Map(statuses.map((status) => [keyOf({ ...status, name: status.job }), status]));
    const behind = jobs.flatMap((job) => {
      if (job.kind !== "campaign" || this.#isPaused(job.namespace)) return [];
      const record = records.get(keyOf(job));
      if (record && this.#recorded.get(job) === record) return [];
      const fresh = summaryOf(job, this.#options.resultsUrl);
      if (record && isRecorded(record, fresh)) {
        this.#recorded.set(job, record);
        return [];
      }
      const what = JSON.stringify([fresh, record?.version]);
      return this.#compared.get(keyOf(job)) === what ? [] : [{ job, what }];
    });
    return behind.sort((a, b) => compareText(b.job.createdAt, a.job.createdAt));
  }

  /** Null when it was not tried or failed. */
  async #write(job: BatchJob, failures: Failures | null): Promise<RecordOutcome | null> {
    const { namespace } = job;
    if (this.#isPaused(namespace)) return null;
    try {
      const outcome = await this.#options.writer.write(job, failures);
      if (outcome === "written") this.#refused.delete(namespace);
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

  /** A refusal is said once for each namespace until its records can be written again. */
  #pause(namespace: string, error: unknown): void {
    const { log, now } = this.#options;
    const isRefusal = error instanceof RecordRefused;
    if (isRefusal && !this.#refused.has(namespace)) {
      this.#refused.add(namespace);
      log.write({ level: "warn", unwritten_records: namespace, error: error.message });
    }
    this.#pausedUntil.set(namespace, now() + (isRefusal ? REFUSAL_PAUSE_MS : UNREADABLE_PAUSE_MS));
  }

  #tell(job: BatchJob, failures: Failures): string {
    return JSON.stringify([summaryOf(job, this.#options.resultsUrl), [...failures]]);
  }
}

/** A namespace has no slash, so the two parts cannot run into each other. */
function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
