import type { Clock } from "@/lib/client/poller.ts";
import { backoffMs, wait } from "./upload_wait.ts";

/** Whether our own server can be reached. While it cannot, everything waits for one probe that is repeated. */
export class Connection {
  readonly #isReachable: (signal: AbortSignal) => Promise<boolean>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #onChange: () => void;
  /** The probe that is under way: files whose shared request fails at the same time wait for the same one. */
  #probing: Promise<boolean> | null = null;
  #outage: { readonly over: Promise<void>; readonly probeNow: () => void } | null = null;

  constructor(
    isReachable: (signal: AbortSignal) => Promise<boolean>,
    { clock, random, onChange }: {
      readonly clock: Clock;
      readonly random: () => number;
      readonly onChange: () => void;
    },
  ) {
    this.#isReachable = isReachable;
    this.#clock = clock;
    this.#random = random;
    this.#onChange = onChange;
  }

  get isAway(): boolean {
    return this.#outage !== null;
  }

  /** The browser says that the network is back. */
  probeNow(): void {
    this.#outage?.probeNow();
  }

  /**
   * Called after a request without a response.
   *
   * @returns whether the network was away: then it is back now. Else the request has to be judged by itself
   * @throws the signal's reason when it aborts meanwhile
   */
  async wasLost(signal: AbortSignal): Promise<boolean> {
    if (!this.#outage) {
      this.#probing ??= this.#isReachable(new AbortController().signal).finally(() => this.#probing = null);
      if (await Promise.race([this.#probing, aborted(signal)])) return false;
      this.#outage ??= this.#begin();
    }
    await Promise.race([this.#outage.over, aborted(signal)]);
    return true;
  }

  #begin() {
    let waiting = new AbortController();
    const lasts = new AbortController();
    const over = (async () => {
      for (let failures = 1;; failures++) {
        waiting = new AbortController();
        // An abort ends the wait early: the browser has the network back.
        await wait(this.#clock, backoffMs(failures, this.#random()), waiting.signal).catch(() => {});
        if (await this.#isReachable(lasts.signal)) break;
      }
      this.#outage = null;
      this.#onChange();
    })();
    queueMicrotask(this.#onChange);
    return { over, probeNow: () => waiting.abort() };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
