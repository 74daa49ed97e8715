import type { WantedProgress } from "@/lib/campaigns/projection/detail.ts";
import { judgeAnswer, needsManifest, type ProgressFile, UNREAD } from "@/lib/campaigns/projection/progress.ts";
import type { ProgressAnswer } from "@/lib/campaigns/projection/types.ts";
import { type ProgressUrls, progressUrls } from "@/lib/campaigns/projection/urls.ts";
import { hasDotSegment, rawTarget } from "@/lib/http/raw_path.ts";
import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { ProgressCache, type ProgressKey } from "./progress_cache.ts";
import { type FileLimits, type FileReader, readResultFile, type ResultsFetch } from "./result_file.ts";

interface ProgressReaderOptions {
  readonly send: ResultsFetch;
  /** Where progress files are read: the internal base, ending in /results. */
  readonly base: string;
  /** ms since 1970 */
  readonly now: () => number;
  readonly limits?: Partial<ReadLimits>;
}

/** What one request may spend on reads. */
export interface ReadLimits {
  /** Reads of files; what is cached costs nothing. */
  readonly reads: number;
  /** For all of them together, ms. */
  readonly totalMs: number;
  readonly atOnce: number;
  readonly file: FileLimits;
}

/** spec, Limits; the time and size of one read are what a healthy store needs, with room. */
const READ_LIMITS: ReadLimits = {
  reads: 100,
  totalMs: 5_000,
  atOnce: 16,
  file: { timeoutMs: 2_000, maxBytes: 64 * 1024 },
};

/** The run whose files are read. */
interface ProgressRun {
  readonly namespace: string;
  readonly pipeline: string;
  /** Tells this run of the campaign from another. */
  readonly run: string;
}

/** Whose session the reads are made with. */
export interface ProgressViewer {
  /** Stands for the session: what was read with it is kept under it, and shown to no other. */
  readonly digest: string;
  readonly cookie: string;
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal;
}

export interface ProgressReader {
  /**
   * The progress of volumes, by index, in the order of `wanted` as far as the limits reach: the rest is left out and
   * comes with a later request. Never throws for a file or a store.
   */
  read(
    run: ProgressRun,
    wanted: readonly WantedProgress[],
    viewer: ProgressViewer,
  ): Promise<ReadonlyMap<number, ProgressAnswer>>;
}

/** Reads progress files with the caller's own session and keeps the answers for that session. */
export function progressReader({ send, base, now, limits }: ProgressReaderOptions): ProgressReader {
  const allowed = { ...READ_LIMITS, ...limits };
  const cache = new ProgressCache(now);
  return {
    async read(run, wanted, viewer) {
      const answers = new Map<number, ProgressAnswer>();
      const missing = new Map<string, MissingVolume>();
      const kept = cache.of({ ...run, session: viewer.digest });
      for (const { index, id, state } of wanted) {
        const known = missing.get(id);
        if (known) {
          known.indexes.push(index);
          continue;
        }
        const answer = kept.get({ id, state });
        if (answer) answers.set(index, answer);
        // More than can be read need not be remembered: a campaign has thousands.
        else if (missing.size < allowed.reads) missing.set(id, { id, state, indexes: [index] });
      }
      await withinBudget(send, allowed, viewer, async (read) => {
        await forEachConcurrent(missing.values(), allowed.atOnce, async (volume) => {
          const { id, indexes } = volume;
          const answer = await readVolume(volume, progressUrls(base, run.namespace, run.pipeline, id), read);
          kept.set(volume, answer);
          if (answer.answered) { for (const index of indexes) answers.set(index, answer); }
        });
      });
      return answers;
    },
  };
}

interface MissingVolume extends ProgressKey {
  /** More than one where volumes.txt lists a volume twice. */
  readonly indexes: number[];
}

type Read = (file: ProgressFile, url: string) => Promise<ProgressAnswer>;

async function readVolume({ state }: ProgressKey, urls: ProgressUrls, read: Read): Promise<ProgressAnswer> {
  const answer = await read("progress", urls.progress);
  return needsManifest(state, answer) ? await read("manifest", urls.manifest) : answer;
}

/** Runs `work` with a `read` that stops asking, and answers {@link UNREAD}, once the limits are reached. */
async function withinBudget(
  send: ResultsFetch,
  limits: ReadLimits,
  viewer: ProgressViewer,
  work: (read: Read) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const timer = setTimeout(end, limits.totalMs);
  viewer.signal?.addEventListener("abort", end, { once: true });
  if (viewer.signal?.aborted) end();
  const reader: FileReader = { cookie: viewer.cookie, signal: stop.signal };
  let left = limits.reads;
  try {
    await work(async (file, url) => {
      // A request for it would fold the segment away and read another file; the results role has no such key.
      if (hasDotSegment(rawTarget(url).path)) return judgeAnswer(file, 404, null);
      if (left === 0 || stop.signal.aborted) return UNREAD;
      left--;
      const { status, body } = await readResultFile(send, url, reader, limits.file);
      return judgeAnswer(file, status, body);
    });
  } finally {
    clearTimeout(timer);
    viewer.signal?.removeEventListener("abort", end);
  }
}
