import { MAX_LOWEST_PAGES } from "./quality.ts";
import { roundScore } from "./rounding.ts";
import { compareText } from "@/lib/std/text.ts";
import type {
  CampaignError,
  CampaignLowestPage,
  CampaignQuality,
  PageSums,
  StoredProgress,
  VolumeLinks,
} from "./types.ts";

/** A volume as the sums name it. */
export interface CountedVolume {
  readonly id: string;
  readonly links: VolumeLinks;
}

/**
 * Sums pages, errors and scores over volumes, in constant space. The order of `add` matters for one thing: of two page
 * errors with the same time, the one added first is the campaign's last error.
 */
export class PageAccumulator {
  #counted = 0;
  #withPages = 0;
  #knownTotal = 0;
  #done = 0;
  #total = 0;
  #failed = 0;
  #errors = 0;
  #lastError: { readonly at: string; readonly error: CampaignError } | null = null;
  #scoreSum = 0;
  #scored = 0;
  #scoredVolumes = 0;
  #min = 1;
  #lowest: CampaignLowestPage[] = [];

  /** Volumes added, with progress or without. */
  get counted(): number {
    return this.#counted;
  }

  /** Mean number of pages of the volumes whose manifest was read; null while there are none. */
  get meanPages(): number | null {
    return this.#withPages === 0 ? null : this.#knownTotal / this.#withPages;
  }

  /** Counts a volume whose file was read; null when it has no progress. */
  add(volume: CountedVolume, progress: StoredProgress | null): void {
    this.#counted++;
    if (!progress) return;
    this.#done += progress.done;
    this.#total += progress.total;
    if (progress.total > 0) {
      this.#withPages++;
      this.#knownTotal += progress.total;
    }
    this.#failed += progress.failed;
    this.#errors += progress.errors;
    this.#addError(volume, progress);
    this.#addQuality(volume, progress);
  }

  /** An independent copy. */
  copy(): PageAccumulator {
    const twin = new PageAccumulator();
    twin.#counted = this.#counted;
    twin.#withPages = this.#withPages;
    twin.#knownTotal = this.#knownTotal;
    twin.#done = this.#done;
    twin.#total = this.#total;
    twin.#failed = this.#failed;
    twin.#errors = this.#errors;
    twin.#lastError = this.#lastError;
    twin.#scoreSum = this.#scoreSum;
    twin.#scored = this.#scored;
    twin.#scoredVolumes = this.#scoredVolumes;
    twin.#min = this.#min;
    twin.#lowest = [...this.#lowest];
    return twin;
  }

  /** The sums so far, out of `started` volumes that have something to count. */
  sums(started: number): PageSums {
    return {
      pagesDone: this.#done,
      pagesTotal: this.#total,
      pagesFailed: this.#failed,
      errors: this.#errors,
      lastError: this.#lastError?.error ?? null,
      pagesCoverage: { counted: this.#counted, of: started },
      quality: this.#quality(),
    };
  }

  #addError({ id, links }: CountedVolume, { lastError, updatedAt }: StoredProgress): void {
    const at = updatedAt ?? "";
    if (
      !lastError ||
      (this.#lastError && compareText(at, this.#lastError.at) <= 0)
    ) return;
    this.#lastError = { at, error: { page: lastError.page, error: lastError.error, volume: id, logUrl: links.logUrl } };
  }

  #addQuality({ id, links }: CountedVolume, { quality }: StoredProgress): void {
    if (!quality) return;
    this.#scoreSum += quality.mean * quality.scored;
    this.#scored += quality.scored;
    this.#scoredVolumes++;
    this.#min = Math.min(this.#min, quality.min);
    const lowest = quality.lowest.map((page) => ({ volume: id, ...page, iiifUrl: links.iiifUrl }));
    this.#lowest = worstPages([...this.#lowest, ...lowest]);
  }

  #quality(): CampaignQuality | null {
    if (this.#scored === 0) return null;
    return {
      mean: roundScore(this.#scoreSum / this.#scored),
      min: this.#min,
      scored: this.#scored,
      volumes: this.#scoredVolumes,
      lowest: [...this.#lowest],
    };
  }
}

/** The worst pages first; a page of a volume that volumes.txt lists twice is named once. */
function worstPages(pages: CampaignLowestPage[]): CampaignLowestPage[] {
  pages.sort((a, b) =>
    a.quality - b.quality || compareText(a.volume, b.volume) ||
    compareText(a.page, b.page)
  );
  const worst: CampaignLowestPage[] = [];
  for (const page of pages) {
    if (worst.some(({ volume, page: name }) => volume === page.volume && name === page.page)) continue;
    worst.push(page);
    if (worst.length === MAX_LOWEST_PAGES) break;
  }
  return worst;
}
