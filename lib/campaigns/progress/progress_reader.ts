import { needsManifest, type ProgressFile, UNREAD } from "@/lib/campaigns/projection/progress.ts";
import type { ProgressAnswer, RunState } from "@/lib/campaigns/projection/types.ts";
import { type ProgressUrls, progressUrls } from "@/lib/campaigns/projection/urls.ts";
import { volumeIdentity } from "@/lib/campaigns/projection/volume_identity.ts";
import type { VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { hasDotSegment, rawTarget } from "@/lib/http/raw_path.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { ProgressCache } from "./progress_cache.ts";
import { type FileLimits, type FileReader, readResultFile, type ResultsFetch } from "./result_file.ts";
import { SharedAnswers } from "./shared_answers.ts";

interface ProgressReaderOptions {
  readonly send: ResultsFetch;
  /** Where progress files are read: the internal base, ending in /results. */
  readonly base: string;
  /** ms since 1970 */
  readonly now: () => number;
  /** How long a session lasts: what is cached for it is of no use for longer. */
  readonly sessionMs: number;
  readonly limits?: Partial<ReadLimits>;
}

/** The budget of one request for reads. */
export interface ReadLimits {
  /** Reads of files; cached results are free. */
  readonly reads: number;
  /** For all of them together, ms. */
  readonly totalMs: number;
  readonly atOnce: number;
  readonly file: FileLimits;
}

/** spec, Limits; the time and size of one read are those of a healthy store, with a margin. */
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
  /** Identifies this run of the campaign, its volumes and their order. */
  readonly run: string;
  readonly volumes: VolumeList;
  /** By index. */
  readonly states: readonly RunState[];
}

/** The session of the reads. */
export interface ProgressViewer {
  /** The session's digest: results are cached under it and shown to no other session. */
  readonly digest: string;
  readonly cookie: string;
  /** Aborts when the request is cancelled. */
  readonly signal?: AbortSignal;
}

export interface ProgressReader {
  /**
   * The progress of the volumes with the indexes in `wanted`, by index, in their order until a limit is reached. The rest
   * is left out and read by a later request. Never throws for a file or a store.
   */
  read(
    run: ProgressRun,
    wanted: readonly number[],
    viewer: ProgressViewer,
  ): Promise<ReadonlyMap<number, ProgressAnswer>>;
}

/** Reads progress files with the caller's own session and caches the results for that session. */
export function progressReader({ send, base, now, sessionMs, limits }: ProgressReaderOptions): ProgressReader {
  const allowed = { ...READ_LIMITS, ...limits };
  const cache = new ProgressCache(now, sessionMs);
  const shared = new SharedAnswers();
  return {
    async read({ namespace, pipeline, run, volumes, states }, wanted, viewer) {
      const answers = new Map<number, ProgressAnswer>();
      const missing = new Map<number, MissingVolume>();
      const { first } = volumeIdentity(volumes);
      const cached = cache.of({ session: viewer.digest, namespace, pipeline, run });
      for (const index of wanted) {
        const volume = first(index);
        const listed = missing.get(volume);
        if (listed) {
          listed.indexes.push(index);
          continue;
        }
        const state = states[index];
        const answer = cached.get(volume, state);
        if (answer) answers.set(index, answer);
        // Volumes beyond the budget are skipped: a campaign has thousands.
        else if (missing.size < allowed.reads) missing.set(volume, { state, indexes: [index] });
      }
      await withinBudget({ send, shared, limits: allowed }, viewer, async (read) => {
        await forEachConcurrent(missing, allowed.atOnce, async ([volume, { state, indexes }]) => {
          const urls = progressUrls(base, namespace, pipeline, volumes.id(volume));
          const answer = await readVolume(state, urls, read);
          cached.set(volume, state, answer);
          if (answer.answered) { for (const index of indexes) answers.set(index, answer); }
        });
      });
      return answers;
    },
  };
}

interface MissingVolume {
  readonly state: RunState;
  /** More than one where volumes.txt lists a volume twice. */
  readonly indexes: number[];
}

type Read = (file: ProgressFile, url: string) => Promise<ProgressAnswer>;

async function readVolume(state: RunState, urls: ProgressUrls, read: Read): Promise<ProgressAnswer> {
  const answer = await read("progress", urls.progress);
  return needsManifest(state, answer) ? await read("manifest", urls.manifest) : answer;
}

interface BudgetedReads {
  readonly send: ResultsFetch;
  readonly shared: SharedAnswers;
  readonly limits: ReadLimits;
}

/** Runs `work` with a `read` that returns {@link UNREAD} without a request once a limit is reached. */
async function withinBudget(
  { send, shared, limits }: BudgetedReads,
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
      // A request would normalise the path and read another file; the results role has no such key.
      if (hasDotSegment(rawTarget(url).path)) return shared.judge(file, 404, null);
      if (left === 0 || stop.signal.aborted) return UNREAD;
      left--;
      const { status, body } = await readResultFile(send, url, reader, limits.file);
      return shared.judge(file, status, body);
    });
  } finally {
    clearTimeout(timer);
    viewer.signal?.removeEventListener("abort", end);
  }
}
