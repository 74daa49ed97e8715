import { sleep } from "@/lib/std/sleep.ts";

/** Wrong credentials that are answered at once, before the brake takes hold: people mistype. */
const FREE_ATTEMPTS = 5;
/** How many of them are decay each second. */
const DECAY_PER_SECOND = 1;
/**
 * What each one beyond that adds to the wait, and the longest wait, ms. It is short, since who asked the store for
 * somebody else holds a place meanwhile; how often an address may guess is for them to limit.
 */
const STEP_MS = 25;
const MAX_MS = 250;
/** Answers that wait at once; those beyond are not kept waiting, so that guessing takes no memory. */
const MAX_WAITING = 256;

/**
 * The brake on guessing: answers to wrong credentials come later the more of them there were, right ones at once. It
 * counts for the whole store and not per account: every request comes from the gateway, and how long an answer takes
 * must not tell which accounts exist.
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

  /** Counts wrong credentials, and resolves when they may be answered: at most a quarter of a second later. */
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
