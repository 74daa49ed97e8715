import { PageTally } from "@/lib/campaigns/projection/page_tally.ts";
import { BoundedCache } from "@/lib/std/bounded_cache.ts";

const LIFETIME_MS = 3_600_000;
const CAPACITY = 4096;

/** The page tallies of sessions, one for each run of a campaign that somebody looked at within the hour. */
export class Tallies {
  readonly #entries: BoundedCache<string, { readonly tally: PageTally; readonly until: number }>;
  readonly #now: () => number;

  /** @param now ms since 1970 */
  constructor(now: () => number, capacity = CAPACITY) {
    this.#now = now;
    this.#entries = new BoundedCache(capacity);
  }

  /** The tally of one session (by its digest) and run, an empty one at first and an hour after that. */
  of(session: string, run: string): PageTally {
    const name = JSON.stringify([session, run]);
    const kept = this.#entries.get(name);
    if (kept && this.#now() < kept.until) return kept.tally;
    const tally = new PageTally();
    this.#entries.set(name, { tally, until: this.#now() + LIFETIME_MS });
    return tally;
  }
}
