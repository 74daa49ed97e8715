import { createHash } from "node:crypto";
import { judgeAnswer, needsManifest, type ProgressFile, UNREAD } from "@/lib/campaigns/projection/progress.ts";
import type { ProgressAnswer, RunState } from "@/lib/campaigns/projection/types.ts";
import { progressUrls } from "@/lib/campaigns/projection/urls.ts";
import { volumeIdentity, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { hasDotSegment, rawTarget } from "@/lib/http/request_context.ts";
import { readCappedBytes, type UpstreamResponse } from "@/lib/http/upstream.ts";
import { BodyTooLong, deadline } from "@/lib/std/body_reader.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { untilAborted } from "@/lib/std/timing.ts";
import { ProgressCache } from "./progress_cache.ts";

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
  /** One for each volume. */
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

export type ProgressReader = ReturnType<typeof progressReader>;

/** Reads progress files with the caller's own session and caches the results for that session. */
export function progressReader({ send, base, now, sessionMs, limits }: ProgressReaderOptions) {
  const allowed = { ...READ_LIMITS, ...limits };
  const cache = new ProgressCache(now, sessionMs);
  const shared = new SharedAnswers();
  return {
    /**
     * The progress of the volumes with the indexes in `wanted`, by index, in their order until a limit is reached. The rest
     * is left out and read by a later request. Never throws for a file or a store.
     */
    async read(
      { namespace, pipeline, run, volumes, states }: ProgressRun,
      wanted: readonly number[],
      viewer: ProgressViewer,
    ): Promise<ReadonlyMap<number, ProgressAnswer>> {
      const answers = new Map<number, ProgressAnswer>();
      // More than one index where volumes.txt lists a volume twice.
      const missing = new Map<number, { readonly state: RunState; readonly indexes: number[] }>();
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
          const first = await read("progress", urls.progress);
          const answer = needsManifest(state, first) ? await read("manifest", urls.manifest) : first;
          cached.set(volume, state, answer);
          if (answer.answered) indexes.forEach((index) => answers.set(index, answer));
        });
      });
      return answers;
    },
  };
}

type Read = (file: ProgressFile, url: string) => Promise<ProgressAnswer>;

/** Runs `work` with a `read` that returns {@link UNREAD} without a request once a limit is reached. */
async function withinBudget(
  { send, shared, limits }: { send: ResultsFetch; shared: SharedAnswers; limits: ReadLimits },
  viewer: ProgressViewer,
  work: (read: Read) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const release = deadline(limits.totalMs, () => stop.abort());
  const signal = viewer.signal ? AbortSignal.any([viewer.signal, stop.signal]) : stop.signal;
  const reader: FileReader = { cookie: viewer.cookie, signal };
  let left = limits.reads;
  try {
    await work(async (file, url) => {
      // A request would normalise the path and read another file; the results role has no such key.
      if (hasDotSegment(rawTarget(url).path)) return shared.judge(file, 404, null);
      if (left === 0 || signal.aborted) return UNREAD;
      left--;
      const { status, body } = await readResultFile(send, url, reader, limits.file);
      return shared.judge(file, status, body);
    });
  } finally {
    release();
  }
}

/**
 * Requests a result file: `fetch`, or the results role of this process or another. Redirects are not followed. Headers are a
 * plain record, since a Request for each of a hundred files would cost as much as sending it.
 */
export type ResultsFetch = (
  url: string,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<UpstreamResponse>;

/** The session of a read and its cancellation. */
interface FileReader {
  /** The `Cookie` header of the results role: the session's cookie and nothing else. */
  readonly cookie: string;
  readonly signal: AbortSignal;
}

interface FileLimits {
  /** Until the last byte, ms. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface FileResult {
  /** null: no complete response in time. */
  readonly status: number | null;
  /** null unless the status is 200, and for a body that is too long or encoded: a compressed one could be a bomb. */
  readonly body: Uint8Array | null;
}

/** Reads one small file of the results store. Never throws. */
export async function readResultFile(
  send: ResultsFetch,
  url: string,
  { cookie, signal }: FileReader,
  { timeoutMs, maxBytes }: FileLimits,
): Promise<FileResult> {
  const late = new AbortController();
  const release = deadline(timeoutMs, () => late.abort());
  const either = AbortSignal.any([signal, late.signal]);
  try {
    // Not every implementation observes the signal.
    return await untilAborted(fetchFile(send, url, { cookie, signal: either }, { timeoutMs, maxBytes }), either);
  } catch {
    return { status: null, body: null };
  } finally {
    release();
  }
}

async function fetchFile(
  send: ResultsFetch,
  url: string,
  { cookie, signal }: FileReader,
  { timeoutMs, maxBytes }: FileLimits,
): Promise<FileResult> {
  const headers = { accept: "application/json", "accept-encoding": "identity", cookie };
  const response = await send(url, { headers, redirect: "manual", signal });
  const encoding = response.headers.get("Content-Encoding") ?? "identity";
  if (response.status !== 200 || encoding.toLowerCase() !== "identity" || signal.aborted) {
    await response.body?.cancel();
    return { status: response.status, body: null };
  }
  try {
    return { status: 200, body: await readCappedBytes(response, maxBytes, timeoutMs) };
  } catch (error) {
    if (error instanceof BodyTooLong) return { status: 200, body: null };
    throw error;
  }
}

/**
 * The meaning of progress files, one object for all sessions that read the same bytes: each session reads with its own
 * permissions and caches its result separately, which would otherwise be a copy of a kilobyte. References are weak, so this
 * holds nothing that no session has cached.
 */
export class SharedAnswers {
  readonly #answers = new Map<string, WeakRef<ProgressAnswer>>();
  readonly #ended = new FinalizationRegistry<string>((name) => {
    // An equal file may have been read since.
    if (this.#answers.get(name)?.deref() === undefined) this.#answers.delete(name);
  });

  /** The number of files whose meaning is in use. */
  get size(): number {
    return this.#answers.size;
  }

  /** Like {@link judgeAnswer}, but the same object for the same bytes. */
  judge(file: ProgressFile, status: number | null, body: Uint8Array | null): ProgressAnswer {
    if (status !== 200 || body === null) return judgeAnswer(file, status, body);
    const name = `${file} ${createHash("sha256").update(body).digest("base64url")}`;
    const known = this.#answers.get(name)?.deref();
    if (known) return known;
    const answer = judgeAnswer(file, status, body);
    // Those without progress are the same object anyway.
    if (answer.progress === null) return answer;
    this.#answers.set(name, new WeakRef(answer));
    this.#ended.register(answer, name);
    return answer;
  }
}
