import { signal } from "@preact/signals";

import type { FetchProblem } from "@/lib/pages/fetch_problems.ts";
import { MAX_LOG_CHARACTERS, parseRunLogInSteps, type RunLog } from "./run_log.ts";
import { fetchText } from "@/lib/pages/browser/fetch_text_client.ts";
import { type Clock, Poller } from "@/lib/pages/browser/poller_client.ts";
import { runSteps } from "@/lib/pages/browser/steps_client.ts";

/** Seconds between two reads of a log that is still written. */
const LIVE_SECONDS = 15;
/** Reads in a row that may fail before a live log is no longer followed. */
export const MAX_FAILED_READS = 20;
/** A log without an ending that has not grown for so long is no longer followed: its worker was stopped. */
const QUIET_MS = 15 * 60_000;
/** Clocks of logs are behind UTC by at most this. */
const MAX_ZONE_MS = 12 * 3_600_000;
/** Workers cut their logs at 4 MiB; a file of any other origin has to fit into the memory of a browser. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Dependencies of the readers of a run's files. */
export interface RunReaderDeps {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** The session has ended. */
  readonly onLogin: () => void;
  /** The file is complete, or is no longer read. */
  readonly onEnd: () => void;
}

/** Reads a run log, once or until the run ends. */
export class LogReader {
  readonly log = signal<RunLog | null>(null);
  /** Why the last read has failed; null: it has not. */
  readonly problem = signal<FetchProblem | null>(null);
  /** It is read again and again. */
  readonly following = signal(false);
  /** It was followed, but too many reads in a row have failed. */
  readonly stopped = signal(false);
  /** It was followed, but has not grown for too long. */
  readonly quiet = signal(false);
  /** The last good read, ms since 1970. */
  readonly readAt = signal<number | null>(null);

  readonly #url: string;
  readonly #deps: RunReaderDeps;
  readonly #poller: Poller;
  #text = "";
  #limit = MAX_LOG_CHARACTERS;
  #parsing = new AbortController();
  #failed = 0;
  /** When the log has grown, ms since 1970; null before the first good read. */
  #grewAt: number | null = null;
  #endsAfterRead = false;

  constructor(url: string, deps: RunReaderDeps) {
    this.#url = url;
    this.#deps = deps;
    this.#poller = new Poller((signal) => this.#read(signal), deps.clock);
  }

  /**
   * Reads the log at once.
   *
   * @param live whether the run may still write
   */
  start(live: boolean): void {
    this.following.value = live;
    this.stopped.value = false;
    this.quiet.value = false;
    this.#failed = 0;
    if (this.#grewAt !== null) this.#grewAt = this.#deps.clock.now();
    this.#endsAfterRead = false;
    if (live) this.#poller.repeat(LIVE_SECONDS);
    this.#poller.readNow();
  }

  pause(paused: boolean): void {
    this.#poller.pause(paused);
  }

  stop(): void {
    this.following.value = false;
    this.#parsing.abort();
    this.#poller.stop();
  }

  /** The run has ended, as seen elsewhere: the log is read a last time, and then no longer followed. */
  endAfterNextRead(): void {
    if (!this.following.value) return;
    this.#endsAfterRead = true;
    this.#poller.readNow();
  }

  /** Shows the omitted first part of a long log. */
  async showWhole(): Promise<void> {
    this.#limit = Infinity;
    await this.#parse();
  }

  /** @returns always true: failures end a live log after so many reads, and do not make the waits between them longer */
  async #read(signal: AbortSignal): Promise<boolean> {
    const problem = await this.#problemOfRead(signal);
    if (signal.aborted) return true;
    this.problem.value = problem;
    this.#failed = problem === null ? 0 : this.#failed + 1;
    const hasEnded = this.log.value?.outcome === "finished" || this.log.value?.outcome === "failed";
    const isStopped = this.following.value && this.#failed >= MAX_FAILED_READS;
    if (isStopped) this.stopped.value = true;
    const isQuiet = this.following.value && !hasEnded && !this.#endsAfterRead && problem === null &&
      this.#grewAt !== null && this.#deps.clock.now() - this.#grewAt >= QUIET_MS;
    if (isQuiet) this.quiet.value = true;
    if (hasEnded || this.#endsAfterRead || isStopped || isQuiet || problem === 401 || problem === 403) this.#end();
    if (problem === 401) this.#deps.onLogin();
    return true;
  }

  async #problemOfRead(signal: AbortSignal): Promise<FetchProblem | null> {
    // Each upload and each attempt overwrites the file.
    const { fetch } = this.#deps;
    const fetched = await fetchText(this.#url, { fetch, maxBytes: MAX_BYTES, cache: "no-cache", signal });
    if (!fetched.ok) return fetched.problem;
    if (signal.aborted) return null;
    const now = this.#deps.clock.now();
    this.readAt.value = now;
    if (fetched.text !== this.#text || this.log.value === null) {
      this.#text = fetched.text;
      await this.#parse();
      const isFirst = this.#grewAt === null;
      this.#grewAt = isFirst ? now - unchangedMs(fetched.headers, this.log.value?.endedAt ?? null) : now;
    }
    return null;
  }

  /** Parses the text and cancels a parse in progress. */
  async #parse(): Promise<void> {
    this.#parsing.abort();
    const { signal } = this.#parsing = new AbortController();
    const log = await runSteps(parseRunLogInSteps(this.#text, this.#limit), signal);
    if (log) this.log.value = log;
  }

  #end(): void {
    if (!this.following.value) return;
    this.following.value = false;
    this.#poller.repeat(null);
    this.#deps.onEnd();
  }
}

/**
 * How long a file has not changed, by the clock of its server: since it was written, or since its last line where the
 * file was written again later.
 *
 * @param endedAt time of its last line on the log's clock, ms
 * @returns ms; 0 where the server does not say
 */
function unchangedMs(headers: Headers, endedAt: number | null): number {
  const [sent, modified] = ["Date", "Last-Modified"].map((name) => Date.parse(headers.get(name) ?? ""));
  if (Number.isNaN(sent) || Number.isNaN(modified)) return 0;
  return Math.max(0, sent - modified, endedAt === null ? 0 : sent - endedAt - MAX_ZONE_MS);
}
