import type { Caller } from "@/lib/auth/store_credentials.ts";
import { codedError, HttpError, listingStuck, sentenceOf } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { listObjects, listVersions, markedPages, type Markers, MAX_KEYS } from "@/lib/s3/listing.ts";
import type { CodedText } from "@/lib/std/coded.ts";
import { sleep } from "@/lib/std/timing.ts";
import { compareText } from "@/lib/std/text.ts";
import { pageAfter } from "@/lib/tasks/chosen_keys.ts";
import { isTransient } from "@/lib/tasks/task_responses.ts";
import type { EndedTask, Job, TaskClock, TaskHandler } from "@/lib/tasks/task_keys.ts";
import { checkObject, EtagJudge, missingRow } from "./check_object.ts";
import { type Entry, mergedEntries } from "./expected.ts";
import { counted, FIXITY, type FixityFigures, type FixityProgress, type Position } from "./fixity.ts";
import { type ManifestFigures, manifestKeys, type ManifestRef } from "./manifest_keys.ts";
import { type ReadSource, RETRY_MS } from "./object_digests.ts";
import { baselineKeys, csvReport, jsonReport, readRows, type ReportRow, withRow, writeReport } from "./report.ts";
import { reportHead } from "./responses.ts";

/** Objects that a task reads at a time. */
const READERS = 4;
const ABSENT_PER_PAUSE = 256;

interface FixityOptions {
  readonly s3: S3;
  /** Bytes per second of all tasks of this process; null: no limit. */
  readonly rate: number | null;
  readonly clock: TaskClock;
  /** Waits between two tries of a read, ms; {@link RETRY_MS} when absent. */
  readonly retryMs?: readonly number[];
  /** Counts what is found. */
  readonly figures: FixityFigures;
  /** Called with each check that has ended. Must never throw. */
  readonly onEnd?: (ended: EndedTask<FixityProgress>) => Promise<void>;
  /** See `manifestKeys`. */
  readonly windowKeys?: number;
}

/**
 * Reads every object under a prefix and compares its bytes, see {@link checkObject}. It goes on behind the last object that
 * counts; one that was being read is read again.
 */
export function fixityHandler(options: FixityOptions): TaskHandler<FixityProgress> {
  const processRate = new ByteRate(options.rate ?? Infinity, options.clock);
  return {
    ...FIXITY,
    async run(job) {
      const run = new FixityRun(options, processRate, job);
      if (run.progress.checkedAt === null) await run.check();
      if (run.progress.written === null) await run.write();
      return run.progress;
    },
    onEnd: options.onEnd,
  };
}

class FixityRun {
  progress: FixityProgress;
  readonly #rates: readonly ByteRate[];
  /** Ends reads that are under way when another one ends the run. */
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #etags: EtagJudge;
  #countedAt: number;
  #yielding: Promise<boolean> | null = null;

  constructor(
    private readonly options: FixityOptions,
    processRate: ByteRate,
    private readonly job: Job<FixityProgress>,
  ) {
    this.progress = { ...job.progress, underWay: 0 };
    const { etags, request } = job.progress;
    this.#rates = [processRate, new ByteRate(request.rate ?? Infinity, options.clock)];
    this.#signal = AbortSignal.any([job.signal, this.#abort.signal]);
    this.#countedAt = options.clock.now();
    this.#etags = new EtagJudge(this.#readSource(false), job.bucket, etags, request.etags === "ignore");
  }

  async check(): Promise<void> {
    const { s3 } = this.options;
    const { bucket, caller, read } = this.job;
    const { request, after } = this.progress;
    const source = { s3, caller: { ...caller, signal: this.#signal }, bucket, read };
    // The reads in progress, in key order: they are counted in this order.
    const readings: { readonly entry: Entry; readonly row: Promise<ReportRow> }[] = [];
    const countFirst = async () => {
      const first = readings[0];
      await this.#count(first.entry, await first.row);
      readings.shift();
    };
    const lookUps = gapLookUps(source, request.prefix);
    let last = after?.key ?? null;
    let absent = 0;
    try {
      const listed = listedEntries(source, request, after);
      for await (const entry of mergedEntries([listed, ...this.#expected()])) {
        if (readings.length >= READERS) await countFirst();
        await this.#yieldTurn();
        const isThere = entry.isListed || await lookUps.has(entry.key, last);
        if (entry.isListed) lookUps.endGap();
        // Other work of the process gets its turn: rows of absent objects need nothing to wait for.
        else if (++absent % ABSENT_PER_PAUSE === 0) await sleep(0);
        last = entry.key;
        const row = isThere
          ? checkObject(this.#readSource(), bucket, { ...entry, isUnnamed: this.#isUnnamed(entry) }, this.#etags)
          : Promise.resolve(missingRow(entry));
        row.catch(() => {});
        readings.push({ entry, row });
      }
      while (readings.length > 0) await countFirst();
    } catch (error) {
      this.#abort.abort(error);
      // No work may go on behind the end of a run.
      await Promise.allSettled(readings.map(({ row }) => row));
      throw error;
    }
    this.progress = { ...this.progress, underWay: 0, checkedAt: Date.now() };
    await this.job.checkpoint(this.progress, "at once");
  }

  /** Writes the report that was asked for. What cannot be written is no fault of the check. */
  async write(): Promise<void> {
    const { bucket, id, readBlobs } = this.job;
    const { progress } = this;
    const { request: { reportTo }, rows } = progress;
    const source = this.#readSource(false);
    const head = reportHead({ id, bucket, state: "ready", error: null }, progress);
    const reports = reportTo === null ? [] : [
      { extension: "json", type: "application/json", text: () => jsonReport(head, readRows(rows, readBlobs)) },
      { extension: "csv", type: "text/csv; charset=utf-8", text: () => csvReport(readRows(rows, readBlobs)) },
    ];
    const written: FixityProgress["written"] = [];
    let problem: CodedText | null = null;
    try {
      for (const { extension, ...report } of reports) {
        const key = `${reportTo}fixity-${id}.${extension}`;
        written.push(await writeReport(source, bucket, { ...report, key }));
      }
    } catch (error) {
      if (!(error instanceof HttpError) || isTransient(error)) throw error;
      problem = sentenceOf(error);
    }
    const writeCodes = problem ? [problem.coded] : [];
    this.progress = { ...progress, written, writeError: problem?.text ?? null, writeCodes };
    await this.job.checkpoint(this.progress, "at once");
  }

  /** The sources of expectations about objects that have not been checked. */
  #expected(): AsyncIterator<Entry>[] {
    const { request: { prefix }, after, comparison, baseline } = this.progress;
    const sources: AsyncIterator<Entry>[] = [];
    if (comparison && comparison.manifests.length > 0) {
      sources.push(manifestKeys({
        source: this.#readSource(false),
        manifests: comparison.manifests,
        prefix,
        after: after?.key ?? null,
        onRead: (manifest, figures) => this.#noteFigures(manifest, figures),
        windowKeys: this.options.windowKeys,
      }));
    }
    if (baseline) {
      const { readBlobs } = this.job;
      sources.push(baselineKeys({ rows: baseline, read: readBlobs, prefix, after: after?.key ?? null }));
    }
    return sources;
  }

  /** A manifest that does not fit into memory is read several times, of which each finds some of the conflicts. */
  #noteFigures(manifest: ManifestRef, { entries, invalid }: ManifestFigures): void {
    const { comparison } = this.progress;
    if (!comparison) return;
    const at = comparison.manifests.indexOf(manifest);
    const figures = comparison.figures.map((before, index) =>
      index === at ? { entries, invalid: Math.max(before?.invalid ?? 0, invalid) } : before
    );
    this.progress = { ...this.progress, comparison: { ...comparison, figures } };
  }

  /** Whether a manifest should name an object and does not. */
  #isUnnamed({ key, isListed, expectations }: Entry): boolean {
    const { comparison } = this.progress;
    if (!isListed || !comparison || comparison.scope === null || !key.startsWith(comparison.scope)) return false;
    return !expectations.some(({ proof }) => proof === "manifest") &&
      !comparison.manifests.some((manifest) => manifest.key === key);
  }

  /** @param isPayload whether bytes count as those of objects that are checked */
  #readSource(isPayload = true): ReadSource {
    const { s3, retryMs = RETRY_MS } = this.options;
    const { caller, read } = this.job;
    const signal = this.#signal;
    return {
      s3,
      caller: { ...caller, signal },
      retryMs,
      read,
      pace: async (bytes) => {
        for (const rate of this.#rates) await rate.take(bytes, signal);
        this.options.figures.bytes += bytes;
        if (isPayload) this.progress = { ...this.progress, underWay: this.progress.underWay + bytes };
        await this.job.checkpoint(this.progress, "partial");
        return await this.#yieldTurn();
      },
    };
  }

  /** Time without a slot is no time of work. */
  #yieldTurn(): Promise<boolean> {
    const { clock } = this.options;
    const from = clock.now();
    return this.#yielding ??= this.job.yieldTurn().then((hasWaited) => {
      if (hasWaited) this.#countedAt += clock.now() - from;
      return hasWaited;
    }).finally(() => this.#yielding = null);
  }

  async #count(entry: Entry, row: ReportRow): Promise<void> {
    const now = this.options.clock.now();
    const workedMs = this.progress.workedMs + now - this.#countedAt;
    this.#countedAt = now;
    const rows = await withRow(this.progress.rows, row, this.progress.request.full, this.job.writeBlobs);
    const underWay = Math.max(0, this.progress.underWay - (row.size ?? 0));
    const after = { key: entry.key, versionId: entry.versionId };
    const etags = this.#etags.meaning;
    this.options.figures.objects[row.result]++;
    this.progress = { ...counted(this.progress, row, workedMs), etags, rows, after, underWay };
    await this.job.checkpoint(this.progress);
  }
}

/** A bucket that is listed. */
type ListingSource = { readonly s3: S3; readonly caller: Caller } & Pick<Job<unknown>, "bucket" | "read">;

/**
 * The objects of a listing in the order of their keys, page by page; with all versions, those of a key as the store orders
 * them.
 *
 * @param after lists what follows this position; null: everything
 * @throws HttpError 501 where the store does not list in the order of keys or from a key on; as {@link listObjects}
 */
async function* listedEntries(
  source: ListingSource,
  { prefix, allVersions }: FixityProgress["request"],
  after: Position | null,
): AsyncGenerator<Entry> {
  let last = after?.key ?? null;
  for await (const page of allVersions ? versionPages(source, prefix, after) : objectPages(source, prefix, last)) {
    for (const entry of page) {
      const order = last === null ? 1 : compareText(entry.key, last);
      const isInOrder = order > 0 || (order === 0 && entry.versionId !== null);
      if (!isInOrder) throw codedError(501, "listing_not_resumable", { bucket: source.bucket });
      last = entry.key;
      yield { ...entry, isListed: true, expectations: [] };
    }
  }
}

/** An object as a listing shows it. */
type ListedEntry = Pick<Entry, "key" | "versionId" | "etag">;

async function* objectPages(
  source: ListingSource,
  prefix: string,
  behind: string | null,
): AsyncGenerator<ListedEntry[]> {
  let after = behind;
  for (;;) {
    const { objects, isLast } = await pageAfter(source.s3, source, { prefix, after, maxKeys: MAX_KEYS });
    yield objects.map(({ Key, ETag }) => ({ key: Key, versionId: null, etag: ETag }));
    if (isLast) return;
    after = objects[objects.length - 1].Key;
  }
}

async function* versionPages(
  { s3, caller, bucket, read }: ListingSource,
  prefix: string,
  after: Position | null,
): AsyncGenerator<ListedEntry[]> {
  const list = ({ key, id }: Markers) =>
    read(() => listVersions(s3, caller, bucket, { prefix, keyMarker: key, versionIdMarker: id, maxKeys: MAX_KEYS }));
  const from = { key: after?.key, id: after?.versionId ?? undefined };
  const pages = markedPages(list, (page) => page.next_version_id_marker, from, () => listingStuck(bucket));
  for await (const { versions } of pages) {
    yield versions.map(({ Key, VersionId, ETag }) => ({ key: Key, versionId: VersionId ?? "null", etag: ETag }));
  }
}

/** So many keys are listed again for a gap: usually its end alone, but some may have come meanwhile. */
const GAP_KEYS = 10;

/**
 * Looks once more for keys that a listing lacks. One short listing answers for all keys between two objects, however many
 * are absent there.
 */
function gapLookUps({ s3, caller, bucket, read }: ListingSource, prefix: string) {
  /** Keys of the last listing, which covers all keys up to one; null: up to the end. */
  let known: { readonly keys: ReadonlySet<string>; readonly until: string | null } | null = null;
  const covers = (key: string) => known !== null && (known.until === null || compareText(key, known.until) <= 0);
  const list = (options: Parameters<typeof listObjects>[3]) => read(() => listObjects(s3, caller, bucket, options));
  return {
    /** Ends a gap: the keys that were listed for it may be out of date for the next one. */
    endGap() {
      known = null;
    },
    /**
     * Whether the store lists a key.
     *
     * @param behind the last key that was checked; null: none
     * @throws as {@link listObjects}
     */
    async has(key: string, behind: string | null): Promise<boolean> {
      if (!covers(key)) {
        const { objects, is_truncated } = await list({ prefix, startAfter: behind ?? undefined, maxKeys: GAP_KEYS });
        const keys = new Set(objects.map(({ Key }) => Key));
        known = { keys, until: is_truncated ? objects.at(-1)?.Key ?? "" : null };
      }
      if (covers(key)) return known?.keys.has(key) === true;
      const { objects } = await list({ prefix: key, maxKeys: 1 });
      return objects.some(({ Key }) => Key === key);
    },
  };
}

/** How long a pause may be made up for by a burst, ms. */
const BURST_MS = 500;

/** Limits bytes per second, as a token bucket that holds half a second. Takers wait in the order in which they come. */
class ByteRate {
  /** When all bytes that were taken have had their time, by the clock. */
  #paidAt = -Infinity;

  /** @param bytesPerSecond Infinity: no limit */
  constructor(readonly bytesPerSecond: number, readonly clock: TaskClock) {}

  /**
   * Takes bytes that have been read, and waits until the next may be.
   *
   * @throws the reason of the signal
   */
  async take(bytes: number, signal?: AbortSignal): Promise<void> {
    const now = this.clock.now();
    this.#paidAt = Math.max(this.#paidAt, now - BURST_MS) + bytes / this.bytesPerSecond * 1000;
    const waitMs = this.#paidAt - now;
    if (waitMs > 0) await this.clock.sleep(waitMs, signal);
    signal?.throwIfAborted();
  }
}
