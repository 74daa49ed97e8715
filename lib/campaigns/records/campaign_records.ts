import { LRUCache } from "lru-cache";
import { type BatchJob, keyOf, readJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { Conventions } from "@/lib/campaigns/projection/conventions.ts";
import type { StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { configMapPath, getObject, jobsPath } from "@/lib/kubernetes/cluster_reads.ts";
import { type ClusterConnection, ClusterForbidden, ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import { timedCache } from "@/lib/std/caches.ts";
import { compareText } from "@/lib/std/text.ts";
import { entries, member, parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import {
  type Failures,
  isRecorded,
  planFailures,
  planSummary,
  readStoredRecord,
  type RecordWrite,
  statusRecordName,
  type StoredRecord,
  summaryOf,
} from "./record_plan.ts";

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

interface CampaignRecordsOptions {
  readonly writer: RecordWriter;
  /** The same as the writer's. */
  readonly resultsUrl: string | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Updates the status records of live campaigns in the background: no response waits for a record or fails for one. There
 * is one instance in a process, and it writes one record at a time.
 */
export class CampaignRecords {
  /** Details whose record waits to be written, by campaign. */
  readonly #shown = new Map<string, { readonly job: BatchJob; readonly failures: Failures }>();
  #listed: ListedRecords | null = null;
  /** The list whose records are all written. A source without changes returns the same list again. */
  #settled: ListedRecords | null = null;
  /** The end of the first pause of a namespace in that list, ms since 1970. */
  #settledUntil = Infinity;
  #work: Promise<void> | null = null;
  /** Jobs with an up-to-date record. A source that watches returns the same objects until one changes. */
  readonly #recorded = new WeakMap<BatchJob, StatusRecord>();
  /** The summary and record version of the last comparison of a campaign, whether or not it led to a write. */
  readonly #compared = new LRUCache<string, string>({ max: MAX_CACHED_RECORDS });
  /** The summary and failures of the last write for a detail of a campaign. */
  readonly #detailsWritten: LRUCache<string, string>;
  readonly #pausedUntil = new Map<string, number>();
  readonly #rejected = new Set<string>();

  constructor(private readonly options: CampaignRecordsOptions) {
    this.#detailsWritten = timedCache("campaign_record_details", MAX_CACHED_RECORDS, DETAIL_LIFETIME_MS, options.now);
  }

  /** To be called with each list: writes what its records lack, newest campaigns first, up to the limit for a list. */
  listed(snapshot: ListedRecords): void {
    if (snapshot === this.#settled && this.options.now() < this.#settledUntil) return;
    this.#listed = snapshot;
    this.#work ??= this.#run();
  }

  /** To be called with each detail of a live campaign and the newest of its failures. */
  shown(job: BatchJob, failures: Failures): void {
    const key = keyOf(job.namespace, job.name);
    const written = this.#detailsWritten.get(key);
    if (written !== undefined && written === this.#contentOf(job, failures)) return;
    if (this.#isPaused(job.namespace) || (this.#shown.size >= MAX_WAITING && !this.#shown.has(key))) return;
    this.#shown.set(key, { job, failures });
    this.#work ??= this.#run();
  }

  /** Resolves when no record waits to be written. */
  idle(): Promise<void> {
    return this.#work ?? Promise.resolve();
  }

  async #run(): Promise<void> {
    // In a later turn, after the response.
    await new Promise((resolve) => setTimeout(resolve, 0));
    while (this.#shown.size > 0 || this.#listed) {
      const [first] = this.#shown;
      if (first) {
        const [key, { job, failures }] = first;
        this.#shown.delete(key);
        const outcome = await this.#write(job, failures);
        const isRecorded = outcome === "written" || outcome === "unchanged";
        if (isRecorded) this.#detailsWritten.set(key, this.#contentOf(job, failures));
      } else if (this.#listed) {
        const snapshot = this.#listed;
        this.#listed = null;
        await this.#writeListed(snapshot);
      }
    }
    this.#work = null;
  }

  async #writeListed(snapshot: ListedRecords): Promise<void> {
    const behind = this.#behind(snapshot);
    for (const { job, what } of behind.slice(0, MAX_WRITES_PER_LIST)) {
      if (await this.#write(job, null)) this.#compared.set(keyOf(job.namespace, job.name), what);
    }
    if (behind.length > MAX_WRITES_PER_LIST) return;
    this.#settled = snapshot;
    const now = this.options.now();
    this.#settledUntil = Math.min(Infinity, ...this.#pausedUntil.values().filter((until) => until > now));
  }

  /** The campaigns whose record may be outdated, newest first; `what` is the key of the comparison. */
  #behind({ jobs, statuses }: ListedRecords): { readonly job: BatchJob; readonly what: string }[] {
    const records = new Map(statuses.map((status) => [keyOf(status.namespace, status.job), status]));
    const behind = jobs.flatMap((job) => {
      if (job.kind !== "campaign" || this.#isPaused(job.namespace)) return [];
      const record = records.get(keyOf(job.namespace, job.name));
      if (record && this.#recorded.get(job) === record) return [];
      const fresh = summaryOf(job, this.options.resultsUrl);
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
      const outcome = await this.options.writer.write(job, failures);
      if (outcome === "written") this.#rejected.delete(namespace);
      this.#pausedUntil.delete(namespace);
      return outcome;
    } catch (error) {
      this.#pause(namespace, error);
      return null;
    }
  }

  #isPaused(namespace: string): boolean {
    return this.options.now() < (this.#pausedUntil.get(namespace) ?? -Infinity);
  }

  /** A rejection is logged once for each namespace until a write succeeds again. */
  #pause(namespace: string, error: unknown): void {
    const { log, now } = this.options;
    const isRejected = error instanceof RecordRejected;
    if (isRejected && !this.#rejected.has(namespace)) {
      this.#rejected.add(namespace);
      log.write({ level: "warn", unwritten_records: namespace, error: error.message });
    }
    this.#pausedUntil.set(namespace, now() + (isRejected ? REJECTED_PAUSE_MS : UNREADABLE_PAUSE_MS));
  }

  #contentOf(job: BatchJob, failures: Failures): string {
    return JSON.stringify([summaryOf(job, this.options.resultsUrl), [...failures]]);
  }
}

interface RecordWriterOptions {
  readonly connection: ClusterConnection;
  readonly conventions: Conventions;
  /** The results URL that records name; null where it differs from one browser to another. */
  readonly resultsUrl: string | null;
}

/** `contended`: another client writes the same record, which is not an error. `gone`: the Job no longer exists. */
export type RecordOutcome = "written" | "unchanged" | "contended" | "gone";

/** A failed write: the API server rejected it or a read that it needs, failed, or did not respond. */
export class RecordRejected extends Error {
  override readonly name = "RecordRejected";
}

/** Brings the status record of a campaign up to date. */
export type RecordWriter = ReturnType<typeof recordWriter>;

/** Writes records by server-side apply (Kubernetes, "Server-Side Apply"), under a manager for each of their two halves. */
export function recordWriter({ connection, conventions, resultsUrl }: RecordWriterOptions) {
  return {
    /**
     * Records a campaign's summary and, when `failures` are given, adds those. Both are judged by the Job and the record as
     * they stand now: nothing is written for a Job that is gone or was replaced.
     *
     * @throws {RecordRejected} when a write fails, or the account may not read Job or record
     * @throws {ClusterUnavailable} when Job or record cannot be read now
     */
    async write({ namespace, name, uid }: BatchJob, failures: Failures | null): Promise<RecordOutcome> {
      const path = configMapPath(namespace, statusRecordName(name));
      if (path === null) return "gone";
      const [jobObject, recordObject] = await Promise.all([
        getObject(connection, `${jobsPath(namespace)}/${encodeURIComponent(name)}`).catch(forbidden("jobs")),
        getObject(connection, path).catch(forbidden("configmaps")),
      ]);
      const job = readJob(jobObject, conventions);
      if (job?.kind !== "campaign" || job.uid !== uid || uid === "") return "gone";
      const stored = readStoredRecord(recordObject);
      const apply = (write: RecordWrite) => applied(connection, path, objectOf(job, write), write);

      const summary = planSummary(stored, job, summaryOf(job, resultsUrl), conventions);
      const record = summary ? await apply(summary) : stored;
      if (record === "contended") return "contended";
      const done = summary ? "written" : "unchanged";
      if (!failures || !record) return done;
      const named = planFailures(stored, record.uid, job, failures, conventions);
      if (!named) return done;
      return await apply(named) === "contended" ? "contended" : "written";
    },
  };
}

/** Applies a write and returns the stored record; null when the response does not contain it. */
async function applied(
  connection: ClusterConnection,
  path: string,
  object: object,
  { manager, force }: RecordWrite,
): Promise<StoredRecord | "contended" | null> {
  const query = new URLSearchParams({ fieldManager: manager, ...(force && { force: "true" }) });
  const headers = { "Content-Type": "application/apply-patch+yaml" };
  const { status, body } = await connection.send({ method: "PATCH", path, query, headers, body: yaml(object) })
    .catch(rejected);
  if (status === 409 || (status === 422 && namesAnotherObject(parsedJson(body)))) return "contended";
  if (status !== 200 && status !== 201) throw new RecordRejected(`status ${status}`);
  return readStoredRecord(parsedJson(body));
}

/** A right that is missing is reported as a rejected write is, since without it no record is ever written. */
function forbidden(resource: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ClusterForbidden ? new RecordRejected(`status 403 of get ${resource}`) : error;
  };
}

/** Whether another object of that name replaced the record: then the uid, which cannot change, is the only cause. */
function namesAnotherObject(status: unknown): boolean {
  const causes = entries(member(status, "details", "causes"));
  return causes.length > 0 && causes.every((cause) => stringAt(cause, "field") === "metadata.uid");
}

function rejected(error: unknown): never {
  throw error instanceof ClusterUnavailable ? new RecordRejected("no response", { cause: error }) : error;
}

function objectOf({ namespace, name }: BatchJob, { labels, data, uid, version }: RecordWrite): object {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace,
      name: statusRecordName(name),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(uid !== null && { uid }),
      ...(version !== null && { resourceVersion: version }),
    },
    data,
  };
}

/**
 * JSON that is valid YAML as well, because the server parses YAML: control characters from U+007F on and lone surrogates,
 * even escaped ones, are errors there, and U+2028 may end a line.
 */
function yaml(object: object): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(object, (_name, value) => typeof value === "string" ? value.toWellFormed() : value);
  const escaped = json.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return new TextEncoder().encode(escaped);
}
