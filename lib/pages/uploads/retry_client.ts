import { type Clock, wait } from "@/lib/pages/browser/poller_client.ts";
import { asFault, isReachable, NEVER } from "./upload_calls_client.ts";

/** Shortest and longest wait after failures in a row, ms. */
const LEAST_MS = 500;
const MOST_MS = 30_000;
/** Tries of a step before its file fails. */
const MAX_TRIES = 7;
/** Tries of a presigned request that the store rejects as forbidden: its clock may be ahead of ours. */
const MAX_FORBIDDEN = 2;

interface ConnectionParts {
  readonly clock: Clock;
  /** 0 to 1 */
  readonly random: () => number;
  readonly onChange: () => void;
}

/**
 * Retries steps after transient failures. While our own server cannot be reached, everything waits for one repeated probe,
 * and lost requests do not count as tries.
 */
export class Connection {
  /** The probe under way, shared by files whose requests fail at the same time. */
  #probing: Promise<boolean> | null = null;
  #outage: { readonly over: Promise<void>; readonly probeNow: () => void } | null = null;

  constructor(private readonly parts: ConnectionParts) {}

  get isAway(): boolean {
    return this.#outage !== null;
  }

  /** The browser says that the network is back. */
  probeNow(): void {
    this.#outage?.probeNow();
  }

  /** Carries out a step, again after transient failures. @throws UploadFault, or the signal's reason */
  async retry<Result>(signal: AbortSignal, step: () => Promise<Result>): Promise<Result> {
    for (let failures = 0, forbidden = 0;;) {
      try {
        return await step();
      } catch (error) {
        signal.throwIfAborted();
        const fault = asFault(error);
        if (fault.kind === "lost" && await this.#wasAway(signal)) continue;
        const isRetried = fault.isTransient
          ? ++failures < MAX_TRIES
          : fault.kind === "forbidden" && ++forbidden < MAX_FORBIDDEN;
        if (!isRetried) throw fault;
        const ms = Math.max(fault.retryAfterMs ?? 0, this.#backoffMs(failures + forbidden));
        await wait(this.parts.clock, ms, signal);
      }
    }
  }

  /**
   * Called after a request without a response.
   *
   * @returns whether the network was away: then it is back now. Else the request has to be judged by itself
   * @throws the signal's reason when it aborts meanwhile
   */
  async #wasAway(signal: AbortSignal): Promise<boolean> {
    if (!this.#outage) {
      this.#probing ??= isReachable(NEVER).finally(() => this.#probing = null);
      if (await Promise.race([this.#probing, aborted(signal)])) return false;
      this.#outage ??= this.#begin();
    }
    await Promise.race([this.#outage.over, aborted(signal)]);
    return true;
  }

  #begin() {
    const { clock, onChange } = this.parts;
    let waiting = new AbortController();
    const over = (async () => {
      for (let failures = 1;; failures++) {
        waiting = new AbortController();
        // An abort ends the wait early: the browser has the network back.
        await wait(clock, this.#backoffMs(failures), waiting.signal).catch(() => {});
        if (await isReachable(NEVER)) break;
      }
      this.#outage = null;
      onChange();
    })();
    queueMicrotask(onChange);
    return { over, probeNow: () => waiting.abort() };
  }

  /** Twice as long after each failure, and spread, so that parts that failed together do not come back together. */
  #backoffMs(failures: number): number {
    const most = Math.min(MOST_MS, LEAST_MS * 2 ** (failures - 1));
    return most * (0.5 + this.parts.random() / 2);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
