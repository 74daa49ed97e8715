import { createHash } from "node:crypto";
import { compareText } from "@/lib/std/text.ts";
import { MAX_LOWEST_PAGES } from "./progress.ts";
import {
  type CampaignError,
  type CampaignLowestPage,
  MAX_TIMELINE_ENTRIES,
  type PageSums,
  type RunState,
  type StoredProgress,
  type TimelineEntry,
  type VolumeLinks,
} from "./types.ts";
import { rfc3339, roundScore } from "./values.ts";
import { volumeIdentity, type VolumeList } from "./volumes.ts";

/**
 * The sums over the ended volumes of one run, each counted once. It is cached between the requests of a session, so that
 * the totals of a huge campaign become complete although one request reads few files. It takes one bit for each volume
 * and 1.5 KB.
 */
export class PageTally {
  /** The same volumes over time. */
  readonly timeline = new TimelineCounts();
  #seen = new Uint8Array(0);
  readonly #sums = new PageAccumulator();

  has(index: number): boolean {
    return ((this.#seen[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }

  /** Counts an ended volume whose file was read; a second call has no effect. */
  add(index: number, volume: CountedVolume, progress: StoredProgress | null): void {
    if (this.has(index)) return;
    this.#mark(index);
    this.#sums.add(volume, progress);
  }

  /** A copy of the sums, to which running volumes are added. */
  sums(): PageAccumulator {
    return this.#sums.copy();
  }

  #mark(index: number): void {
    const byte = index >> 3;
    if (byte >= this.#seen.length) {
      const larger = new Uint8Array(Math.max(byte + 1, this.#seen.length * 2));
      larger.set(this.#seen);
      this.#seen = larger;
    }
    this.#seen[byte] |= 1 << (index & 7);
  }
}

/**
 * The key of a tally: identifies one run of one list of volumes. It stays the same while volumes finish and after the Job
 * is gone, and differs for another start or other volumes.
 */
export function runFingerprint(namespace: string, name: string, startedAt: string | null, volumes: VolumeList): string {
  const parts = [namespace, name, startedAt ?? "", volumeIdentity(volumes).digest];
  return createHash("sha256").update(parts.join("\n").toWellFormed()).digest("base64url");
}

/** A volume as the sums name it. */
interface CountedVolume {
  readonly id: string;
  readonly links: VolumeLinks;
}

/**
 * Sums pages, errors and scores over volumes, in constant space. The order of `add` matters for one thing: of two page
 * errors with the same time, the one added first is the campaign's last error.
 */
export class PageAccumulator {
  #sums = {
    /** Volumes added, with progress or without. */
    counted: 0,
    /** Volumes that say how many pages they have, and their pages. */
    withPages: 0,
    knownTotal: 0,
    done: 0,
    total: 0,
    failed: 0,
    errors: 0,
    lastError: null as { readonly at: string; readonly error: CampaignError } | null,
    /** The sum of the scores of all scored pages. */
    scoreSum: 0,
    scored: 0,
    scoredVolumes: 0,
    min: 1,
    /** Replaced, never changed. */
    lowest: [] as readonly CampaignLowestPage[],
  };

  /** Mean number of pages of the volumes whose manifest was read; null while there are none. */
  get meanPages(): number | null {
    const { withPages, knownTotal } = this.#sums;
    return withPages === 0 ? null : knownTotal / withPages;
  }

  /** Counts a volume whose file was read; null when it has no progress. */
  add(volume: CountedVolume, progress: StoredProgress | null): void {
    const sums = this.#sums;
    sums.counted++;
    if (!progress) return;
    sums.done += progress.done;
    sums.total += progress.total;
    if (progress.total > 0) {
      sums.withPages++;
      sums.knownTotal += progress.total;
    }
    sums.failed += progress.failed;
    sums.errors += progress.errors;
    this.#addError(volume, progress);
    this.#addQuality(volume, progress);
  }

  /** An independent copy. */
  copy(): PageAccumulator {
    const twin = new PageAccumulator();
    twin.#sums = { ...this.#sums };
    return twin;
  }

  /** The sums so far, out of `started` volumes that have something to count. */
  sums(started: number): PageSums {
    const { counted, done, total, failed, errors, lastError, scoreSum, scored, scoredVolumes, min, lowest } =
      this.#sums;
    return {
      pagesDone: done,
      pagesTotal: total,
      pagesFailed: failed,
      errors,
      lastError: lastError?.error ?? null,
      pagesCoverage: { counted, of: started },
      quality: scored === 0
        ? null
        : { mean: roundScore(scoreSum / scored), min, scored, volumes: scoredVolumes, lowest },
    };
  }

  #addError({ id, links }: CountedVolume, { lastError, updatedAt }: StoredProgress): void {
    const at = updatedAt ?? "";
    const last = this.#sums.lastError;
    if (!lastError || (last && compareText(at, last.at) <= 0)) return;
    const { page, error } = lastError;
    this.#sums.lastError = { at, error: { page, error, volume: id, logUrl: links.logUrl } };
  }

  #addQuality({ id, links }: CountedVolume, { quality }: StoredProgress): void {
    if (!quality) return;
    const sums = this.#sums;
    sums.scoreSum += quality.mean * quality.scored;
    sums.scored += quality.scored;
    sums.scoredVolumes++;
    sums.min = Math.min(sums.min, quality.min);
    const lowest = quality.lowest.map((page) => ({ volume: id, ...page, iiifUrl: links.iiifUrl }));
    sums.lowest = worstPages([...sums.lowest, ...lowest]);
  }
}

/** The worst pages first; a page of a volume that volumes.txt lists twice is named once. */
function worstPages(pages: CampaignLowestPage[]): CampaignLowestPage[] {
  pages.sort((a, b) => a.quality - b.quality || compareText(a.volume, b.volume) || compareText(a.page, b.page));
  const worst: CampaignLowestPage[] = [];
  for (const page of pages) {
    if (worst.some(({ volume, page: name }) => volume === page.volume && name === page.page)) continue;
    worst.push(page);
    if (worst.length === MAX_LOWEST_PAGES) break;
  }
  return worst;
}

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
