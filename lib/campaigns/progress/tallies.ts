import type { LRUCache } from "lru-cache";
import { PageTally } from "@/lib/campaigns/projection/page_tally.ts";
import { timedCache } from "@/lib/std/timed_cache.ts";

const LIFETIME_MS = 3_600_000;
const CAPACITY = 4096;

/** The page tallies of sessions, one for each run of a campaign whose detail was read within the hour. */
export class Tallies {
  readonly #entries: LRUCache<string, PageTally>;

  /** @param now ms since 1970 */
  constructor(now: () => number, capacity = CAPACITY) {
    this.#entries = timedCache(capacity, LIFETIME_MS, now);
  }

  /** The tally of one session (by its digest) and run; a new, empty one for the first read and an hour after that. */
  of(session: string, run: string): PageTally {
    const name = JSON.stringify([session, run]);
    let tally = this.#entries.get(name);
    if (!tally) this.#entries.set(name, tally = new PageTally());
    return tally;
  }
}
