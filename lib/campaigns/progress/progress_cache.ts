import type { LRUCache } from "lru-cache";
import type { RunMemory } from "@/lib/campaigns/projection/detail.ts";
import { PaceMeter } from "@/lib/campaigns/projection/pace.ts";
import { PageTally } from "@/lib/campaigns/projection/page_tally.ts";
import { isOver } from "@/lib/campaigns/projection/progress.ts";
import type { ProgressAnswer, RunState } from "@/lib/campaigns/projection/types.ts";
import { timedCache } from "@/lib/std/caches.ts";

/** The session and run of cached results: sessions have different permissions, and a later run has other files. */
interface ProgressScope {
  /** The session's digest. A user's name may pass to another account. */
  readonly session: string;
  readonly namespace: string;
  readonly pipeline: string;
  readonly run: string;
}

/** How long results of running and of ended volumes are cached (spec, Limits), ms. */
export const RUNNING_LIFETIME_MS = 5_000;
const OVER_LIFETIME_MS = 3_600_000;
/** How often expired results are removed, ms. */
export const REMOVED_EVERY_MS = 60_000;

const CAPACITY = 20_000;

/**
 * Results of progress reads, by session. Files of a volume that has ended no longer change, so its absence or a 403 is
 * cached for long as well. Beyond the capacity, results of the least recently used run are evicted first, one by one.
 * Expired ones are removed once a minute while others are added.
 */
export class ProgressCache {
  readonly #scopes = new Map<string, ScopeEntries>();
  readonly #overMs: number;
  #size = 0;
  #removedAt: number;

  /**
   * @param now ms since 1970
   * @param sessionMs how long a session lasts: no result is of use for longer
   */
  constructor(private readonly now: () => number, sessionMs: number, private readonly capacity = CAPACITY) {
    this.#overMs = Math.min(OVER_LIFETIME_MS, sessionMs);
    this.#removedAt = now();
  }

  /** The number of cached results. */
  get size(): number {
    return this.#size;
  }

  /**
   * The cached results of one session and run, which identifies the list of volumes. Two levels of maps instead of an
   * lru-cache, because a request looks up thousands of volumes: keys of several parts would be most of its garbage.
   */
  of({ session, namespace, pipeline, run }: ProgressScope) {
    const name = JSON.stringify([session, namespace, pipeline, run]);
    const entries = this.#scopes.get(name);
    if (entries) this.#touch(name, entries);
    return {
      /** A volume's result, by its index and state. */
      get: (index: number, state: RunState): ProgressAnswer | undefined => {
        const entry = this.#scopes.get(name)?.get(state)?.get(index);
        return entry && this.now() < entry.until ? entry.answer : undefined;
      },
      /** Caches a result, unless the store did not respond. */
      set: (index: number, state: RunState, answer: ProgressAnswer): void => {
        if (!answer.answered) return;
        const now = this.now();
        if (Math.abs(now - this.#removedAt) >= REMOVED_EVERY_MS) this.#removeExpired(now);
        const lifetime = isOver(state) ? this.#overMs : RUNNING_LIFETIME_MS;
        this.#set(name, index, state, { answer, until: now + lifetime });
      },
    };
  }

  #touch(name: string, entries: ScopeEntries): void {
    this.#scopes.delete(name);
    this.#scopes.set(name, entries);
  }

  #set(name: string, index: number, state: RunState, entry: Entry): void {
    const entries: ScopeEntries = this.#scopes.get(name) ?? new Map();
    this.#touch(name, entries);
    const ofState = entries.get(state) ?? new Map<number, Entry>();
    entries.set(state, ofState);
    if (!ofState.delete(index)) this.#size++;
    ofState.set(index, entry);
    if (this.#size > this.capacity) this.#evictOne();
  }

  #removeExpired(now: number): void {
    this.#removedAt = now;
    for (const [name, entries] of this.#scopes) {
      for (const [state, ofState] of entries) {
        for (const [index, { until }] of ofState) {
          if (now < until) continue;
          ofState.delete(index);
          this.#size--;
        }
        if (ofState.size === 0) entries.delete(state);
      }
      if (entries.size === 0) this.#scopes.delete(name);
    }
  }

  #evictOne(): void {
    for (const [name, entries] of this.#scopes) {
      for (const [state, ofState] of entries) {
        const [oldest] = ofState.keys();
        ofState.delete(oldest);
        this.#size--;
        if (ofState.size === 0) entries.delete(state);
        if (entries.size === 0) this.#scopes.delete(name);
        return;
      }
    }
  }
}

interface Entry {
  readonly answer: ProgressAnswer;
  /** ms since 1970 */
  readonly until: number;
}

/** Keyed by state, then by index: a result of a running volume does not answer for an ended one. */
type ScopeEntries = Map<RunState, Map<number, Entry>>;

/** Runs whose tally is cached. */
const MAX_TALLIES = 4096;

/**
 * Remembers for each session and run which progress was read: page tallies for an hour after their first read, and the pace for an
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
  constructor(now: () => number, sessionMs: number, capacity = MAX_TALLIES) {
    const lifetimeMs = Math.min(OVER_LIFETIME_MS, sessionMs);
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
