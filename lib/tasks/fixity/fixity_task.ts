import type { S3 } from "@/lib/s3/client.ts";
import { ByteRate } from "@/lib/std/byte_rate.ts";
import { sleep } from "@/lib/std/sleep.ts";
import type { TaskClock } from "@/lib/tasks/task_clock.ts";
import type { EndedTask, Job, TaskHandler } from "@/lib/tasks/task_handler.ts";
import { baselineKeys } from "./baseline.ts";
import { checkObject, missingRow } from "./check_object.ts";
import { EtagJudge } from "./etag_judge.ts";
import { type Entry, mergedEntries } from "./expected.ts";
import { counted, FIXITY, type FixityFigures, type FixityProgress } from "./fixity.ts";
import { GapLookUps, listedEntries } from "./listed_entries.ts";
import { type ManifestFigures, manifestKeys, type ManifestRef } from "./manifest_keys.ts";
import { type ReadSource, RETRY_MS } from "./read_object.ts";
import { MAX_FULL_ROWS, MAX_ROWS, type ReportRow, withRow } from "./report_rows.ts";
import { emptyChunks, NO_LINES } from "./stored_lines.ts";
import { DIGESTS, withDigest, writeOutputs } from "./write_outputs.ts";

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
  /** As that of `manifestKeys`. */
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
    keepsCaller: false,
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
  readonly #options: FixityOptions;
  readonly #job: Job<FixityProgress>;
  readonly #rates: readonly ByteRate[];
  /** Ends reads that are under way when another one ends the run. */
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #etags: EtagJudge;
  #countedAt: number;
  #yielding: Promise<boolean> | null = null;

  constructor(options: FixityOptions, processRate: ByteRate, job: Job<FixityProgress>) {
    this.#options = options;
    this.#job = job;
    this.progress = { ...job.progress, underWay: 0 };
    const { rate } = job.progress.request;
    this.#rates = rate === null ? [processRate] : [processRate, new ByteRate(rate, options.clock)];
    this.#signal = AbortSignal.any([job.signal, this.#abort.signal]);
    this.#countedAt = options.clock.now();
    this.#etags = new EtagJudge({
      source: this.#readSource({ isPayload: false }),
      bucket: job.bucket,
      known: this.progress.etags,
      isIgnored: job.progress.request.etags === "ignore",
    });
  }

  async check(): Promise<void> {
    const { s3 } = this.#options;
    const { bucket, caller, read } = this.#job;
    const { request, after } = this.progress;
    const source = { s3, caller: { ...caller, signal: this.#signal }, bucket, read };
    // As many reads are under way as this holds, in the order of their keys, in which they count.
    const readings: { readonly entry: Entry; readonly row: Promise<ReportRow> }[] = [];
    const countFirst = async () => {
      const first = readings[0];
      await this.#count(first.entry, await first.row);
      readings.shift();
    };
    const lookUps = new GapLookUps({ ...source, prefix: request.prefix });
    let last = after?.key ?? null;
    let absent = 0;
    try {
      const listed = listedEntries({ ...source, ...request, after });
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
    await this.#job.checkpoint(this.progress, "at once");
  }

  /** Writes what was asked for. What cannot be written is no fault of the check. */
  async write(): Promise<void> {
    const { bucket, id, readBlobs, writeBlobs } = this.#job;
    const source = this.#readSource({ isPayload: false });
    const { written, errors } = await writeOutputs({ source, bucket, id, progress: this.progress, readBlobs });
    await writeBlobs(emptyChunks(this.progress.digests, DIGESTS));
    const writeError = errors.length === 0 ? null : errors.map(({ text }) => text).join("; ");
    const writeCodes = errors.map(({ coded }) => coded);
    this.progress = { ...this.progress, digests: NO_LINES, written, writeError, writeCodes };
    await this.#job.checkpoint(this.progress, "at once");
  }

  /** The sources of expectations about objects that have not been checked. */
  #expected(): AsyncIterator<Entry>[] {
    const { request: { prefix }, after, comparison, baseline } = this.progress;
    const sources: AsyncIterator<Entry>[] = [];
    if (comparison && comparison.manifests.length > 0) {
      sources.push(manifestKeys({
        source: this.#readSource({ isPayload: false }),
        manifests: comparison.manifests,
        prefix,
        after: after?.key ?? null,
        onRead: (manifest, figures) => this.#noteFigures(manifest, figures),
        windowKeys: this.#options.windowKeys,
      }));
    }
    if (baseline) {
      const { readBlobs } = this.#job;
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
  #readSource({ isPayload } = { isPayload: true }): ReadSource {
    const { s3, retryMs = RETRY_MS } = this.#options;
    const { caller, read } = this.#job;
    const signal = this.#signal;
    return {
      s3,
      caller: { ...caller, signal },
      retryMs,
      read,
      pace: async (bytes) => {
        for (const rate of this.#rates) await rate.take(bytes, signal);
        this.#options.figures.bytes += bytes;
        if (isPayload) this.progress = { ...this.progress, underWay: this.progress.underWay + bytes };
        await this.#job.checkpoint(this.progress, "partial");
        return await this.#yieldTurn();
      },
    };
  }

  /** Time without a slot is no time of work. */
  #yieldTurn(): Promise<boolean> {
    const { clock } = this.#options;
    const from = clock.now();
    return this.#yielding ??= this.#job.yieldTurn().then((hasWaited) => {
      if (hasWaited) this.#countedAt += clock.now() - from;
      return hasWaited;
    }).finally(() => this.#yielding = null);
  }

  async #count(entry: Entry, row: ReportRow): Promise<void> {
    const { request } = this.progress;
    const now = this.#options.clock.now();
    const workedMs = this.progress.workedMs + now - this.#countedAt;
    this.#countedAt = now;
    const maxRows = request.full ? MAX_FULL_ROWS : MAX_ROWS;
    const isShown = request.full || row.result !== "intact";
    const rows = isShown ? await withRow(this.progress.rows, row, maxRows, this.#job.writeBlobs) : this.progress.rows;
    const underWay = Math.max(0, this.progress.underWay - (row.size ?? 0));
    const after = { key: entry.key, versionId: entry.versionId };
    const etags = this.#etags.meaning;
    this.#options.figures.objects[row.result]++;
    const digests = await withDigest(this.progress, row, this.#job.writeBlobs);
    this.progress = { ...counted(this.progress, row, workedMs), etags, rows, digests, after, underWay };
    await this.#job.checkpoint(this.progress);
  }
}
