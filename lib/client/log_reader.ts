import { signal } from "@preact/signals";

import { MAX_LOG_CHARACTERS, parseRunLog, type RunLog } from "@/lib/presentation/run_log/run_log.ts";
import { logProblem } from "@/lib/presentation/run_log/words.ts";
import { type Clock, Poller } from "./poller.ts";

/** Seconds between two reads of a log that is still written. */
const LIVE_SECONDS = 15;
/** Reads in a row that may fail before a live log is given up. */
export const MAX_FAILED_READS = 20;

interface LogReaderDeps {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** The session has ended. */
  readonly onLogin: () => void;
  /** It is no longer read. */
  readonly onEnd?: () => void;
}

/** Reads a run log, once or until the run ends. */
export class LogReader {
  readonly log = signal<RunLog | null>(null);
  readonly problem = signal<string | null>(null);
  /** It is read again and again. */
  readonly following = signal(false);
  /** The last good read, ms since 1970. */
  readonly readAt = signal<number | null>(null);

  readonly #url: string;
  readonly #deps: LogReaderDeps;
  readonly #poller: Poller;
  #text = "";
  #limit = MAX_LOG_CHARACTERS;
  #failed = 0;
  #endsAfterRead = false;

  constructor(url: string, deps: LogReaderDeps) {
    this.#url = url;
    this.#deps = deps;
    this.#poller = new Poller((signal) => this.#read(signal), deps.clock);
  }

  /** @param live whether the run may still write */
  start(live: boolean): void {
    this.following.value = live;
    if (live) this.#poller.repeat(LIVE_SECONDS);
    else this.#poller.readNow();
  }

  pause(paused: boolean): void {
    this.#poller.pause(paused);
  }

  stop(): void {
    this.following.value = false;
    this.#poller.stop();
  }

  /** The run has ended by another sign: the log is read once more, and no longer followed. */
  endAfterNextRead(): void {
    if (!this.following.value) return;
    this.#endsAfterRead = true;
    this.#poller.readNow();
  }

  /** Shows what was left out at the beginning of a long log. */
  showWhole(): void {
    this.#limit = Infinity;
    this.#parse();
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const problem = await this.#problemOfRead(signal);
    if (signal.aborted) return false;
    // A log that is not there yet is no reason to look less often.
    const isGood = problem === null || problem === logProblem(404);
    this.problem.value = problem;
    this.#failed = problem === null ? 0 : this.#failed + 1;
    const hasEnded = this.log.value?.outcome === "finished" || this.log.value?.outcome === "failed";
    if (hasEnded || this.#endsAfterRead || this.#failed >= MAX_FAILED_READS) this.#end();
    return isGood;
  }

  async #problemOfRead(signal: AbortSignal): Promise<string | null> {
    try {
      const response = await this.#deps.fetch(this.#url, { signal, cache: "no-cache" });
      if (response.status === 401) {
        this.#end();
        this.#deps.onLogin();
        return null;
      }
      if (response.status === 403) this.#end();
      if (!response.ok) {
        await response.body?.cancel();
        return logProblem(response.status);
      }
      const text = await response.text();
      this.readAt.value = this.#deps.clock.now();
      if (text !== this.#text || this.log.value === null) {
        this.#text = text;
        this.#parse();
      }
      return null;
    } catch {
      return logProblem("unreachable");
    }
  }

  #parse(): void {
    this.log.value = parseRunLog(this.#text, this.#limit);
  }

  #end(): void {
    if (!this.following.value) return;
    this.following.value = false;
    this.#poller.repeat(null);
    this.#deps.onEnd?.();
  }
}
