import type { LRUCache } from "lru-cache";
import type { RunMemory } from "@/lib/campaigns/projection/detail.ts";
import { PaceMeter } from "@/lib/campaigns/projection/pace.ts";
import { PageTally } from "@/lib/campaigns/projection/page_tally.ts";
import { timedCache } from "@/lib/std/caches.ts";

const LIFETIME_MS = 3_600_000;
const CAPACITY = 4096;

/**
 * What sessions have read of the runs of campaigns: page tallies for an hour after their first read, and the pace for an
 * hour after its last one. For a campaign of 8,000 volumes, of which `MAX_SAMPLED_VOLUMES` or more run, both take 9.3 KB, so
 * all of them 38 MB at most.
 */
export class Tallies {
  readonly #tallies: LRUCache<string, PageTally>;
  readonly #paces: LRUCache<string, PaceMeter>;

  /**
   * @param now ms since 1970
   * @param sessionMs how long a session lasts: what it has read is of no use for longer
   */
  constructor(now: () => number, sessionMs: number, capacity = CAPACITY) {
    const lifetimeMs = Math.min(LIFETIME_MS, sessionMs);
    this.#tallies = timedCache("campaign_tallies", capacity, lifetimeMs, now);
    this.#paces = timedCache("campaign_paces", capacity, lifetimeMs, now);
  }

  /** The memory of one session (by its digest) and run; new and empty for the first read, its tally again every hour. */
  of(session: string, run: string): RunMemory {
    const name = JSON.stringify([session, run]);
    let tally = this.#tallies.get(name);
    if (!tally) this.#tallies.set(name, tally = new PageTally());
    let pace = this.#paces.get(name, { updateAgeOnGet: true });
    if (!pace) this.#paces.set(name, pace = new PaceMeter());
    return { tally, pace };
  }
}
