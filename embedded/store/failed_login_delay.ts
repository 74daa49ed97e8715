import { sleep } from "@/lib/std/timing.ts";

/** Failures that are not delayed: people mistype. */
const FREE_ATTEMPTS = 5;
/** By how many failures the count falls each second. */
const DECAY_PER_SECOND = 1;
/**
 * What each further failure adds to the delay, and the longest delay, in ms. It is short, since a gateway in front of
 * the store holds a slot meanwhile. Limiting the guesses of an address is the gateway's task.
 */
const STEP_MS = 25;
const MAX_MS = 250;
/**
 * Most responses that are delayed at the same time. Further ones are not delayed, which bounds the memory that guessing
 * takes.
 */
const MAX_WAITING = 256;

/**
 * Slows down guessing: the more failed logins there were, the later the response to the next one. Successful logins are
 * never delayed. It counts for the whole store and not per account: all requests come from the gateway, and the time of
 * a response must not reveal which accounts exist.
 */
export class FailedLoginDelay {
  readonly #now: () => number;
  readonly #wait: (ms: number) => Promise<void>;
  #level = 0;
  #atMs = 0;
  #waiting = 0;

  /** @param now ms since 1970 */
  constructor(now: () => number, wait: (ms: number) => Promise<void> = sleep) {
    this.#now = now;
    this.#wait = wait;
  }

  /** Counts a failed login, and resolves when the response may be sent: at most a quarter of a second later. */
  async delay(): Promise<void> {
    const at = this.#now();
    const decay = Math.max(0, at - this.#atMs) / 1000 * DECAY_PER_SECOND;
    this.#atMs = at;
    this.#level = Math.min(Math.max(0, this.#level - decay) + 1, FREE_ATTEMPTS + MAX_MS / STEP_MS);
    const ms = Math.min((this.#level - FREE_ATTEMPTS) * STEP_MS, MAX_MS);
    if (ms <= 0 || this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    try {
      await this.#wait(ms);
    } finally {
      this.#waiting--;
    }
  }
}
