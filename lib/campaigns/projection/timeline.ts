import { rfc3339 } from "./instants.ts";
import type { RunState, TimelineEntry } from "./types.ts";

/** The most entries of a timeline: the start and the ends of the intervals. */
export const MAX_TIMELINE_ENTRIES = 60;

const INTERVALS = MAX_TIMELINE_ENTRIES - 1;
const SHORTEST_INTERVAL_MS = 60_000;

/** A volume that has ended. */
interface EndedVolume {
  readonly state: RunState;
  readonly pages: number;
  /** ms since 1970 */
  readonly endedAt: number;
}

/** The time of a campaign, ms since 1970: its start, and its end or the present. */
export interface TimelineBounds {
  readonly start: number;
  readonly end: number;
}

/**
 * Ended volumes of one run over time, in constant space: counts of equal intervals, whose length doubles whenever the run
 * outgrows them. A time outside of the campaign's is taken for the nearest one within it.
 */
export class TimelineCounts {
  #done: Float64Array | null = null;
  #failed = new Float64Array(0);
  #pages = new Float64Array(0);
  #intervalMs = SHORTEST_INTERVAL_MS;

  /** Counts a volume. `start` is the same for all volumes of a run. */
  add({ state, pages, endedAt }: EndedVolume, { start, end }: TimelineBounds): void {
    this.#done ??= this.#allocate();
    const at = Math.max(0, Math.min(endedAt, end - 1) - start);
    this.#widenTo(at);
    const interval = Math.floor(at / this.#intervalMs);
    if (state === "done") this.#done[interval]++;
    if (state === "failed") this.#failed[interval]++;
    this.#pages[interval] += Math.max(0, pages);
  }

  /** The sums at the start and at the end of each interval; empty while no volume was counted. */
  entries({ start, end }: TimelineBounds): TimelineEntry[] {
    if (!this.#done) return [];
    const length = Math.max(0, end - start);
    this.#widenTo(length);
    const ended = Math.max(0, Math.ceil(length / this.#intervalMs) - 1);
    // Not stored: sixty entries take four times the memory of the counts, and less time than to write them as JSON.
    const entries = [{ at: rfc3339(start), volumesDone: 0, volumesFailed: 0, pagesDone: 0 }];
    let [volumesDone, volumesFailed, pagesDone] = [0, 0, 0];
    for (let interval = 0; interval < INTERVALS; interval++) {
      volumesDone += this.#done[interval];
      volumesFailed += this.#failed[interval];
      pagesDone += this.#pages[interval];
      if (interval >= ended) continue;
      entries.push({ at: rfc3339(start + (interval + 1) * this.#intervalMs), volumesDone, volumesFailed, pagesDone });
    }
    // With what was counted beyond an end that has since moved back.
    entries.push({ at: rfc3339(start + length), volumesDone, volumesFailed, pagesDone });
    return entries;
  }

  #allocate(): Float64Array {
    this.#failed = new Float64Array(INTERVALS);
    this.#pages = new Float64Array(INTERVALS);
    return new Float64Array(INTERVALS);
  }

  /** Makes the intervals long enough to hold a time, ms since the start. */
  #widenTo(at: number): void {
    while (at >= INTERVALS * this.#intervalMs) {
      for (const counts of [this.#done, this.#failed, this.#pages]) if (counts) mergePairs(counts);
      this.#intervalMs *= 2;
    }
  }
}

function mergePairs(counts: Float64Array): void {
  for (let interval = 0; interval < INTERVALS; interval++) {
    counts[interval] = (counts[2 * interval] ?? 0) + (counts[2 * interval + 1] ?? 0);
  }
}
