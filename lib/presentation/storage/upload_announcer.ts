import { type UploadCounts, uploadHead } from "./upload_head.ts";
import { UPLOAD_HEADS } from "./upload_sentences.ts";

/** Shortest time between two announcements while files are on their way, ms. */
const BETWEEN_MS = 10_000;

interface UploadProgress {
  readonly counts: UploadCounts;
  /** Of the bytes. */
  readonly percent: number;
  /** ms on a clock that only grows */
  readonly now: number;
}

/**
 * What a screen reader says of uploads: their start, each quarter, failures and the end. Thousands of files change many
 * times a second, so that their rows say nothing by themselves.
 */
export class UploadAnnouncer {
  #isBusy = false;
  #quarter = 0;
  #failed = 0;
  /** Files of which nothing more is expected. */
  #over = 0;
  #saidAt = -Infinity;

  /** @returns what is to be said now; "": nothing */
  next({ counts, percent, now }: UploadProgress): string {
    const { all, done, skipped, cancelled, failed, state } = counts;
    const wasBusy = this.#isBusy;
    const overBefore = this.#over;
    const quarter = Math.floor(percent / 25);
    this.#isBusy = state !== "ended";
    this.#over = done + skipped + cancelled + failed;
    if (!this.#isBusy) {
      // A few small files may have arrived since the last look.
      const hasEnded = wasBusy || this.#over > overBefore;
      return hasEnded ? this.#said(uploadHead(counts), now, quarter, failed) : "";
    }
    // The files of earlier uploads are counted as well.
    if (!wasBusy) return this.#said(UPLOAD_HEADS.started(all - this.#over), now, quarter, failed);
    if (now - this.#saidAt < BETWEEN_MS) return "";
    if (failed > this.#failed) return this.#said(uploadHead(counts), now, quarter, failed);
    return quarter > this.#quarter ? this.#said(UPLOAD_HEADS.percent(quarter * 25), now, quarter, failed) : "";
  }

  #said(text: string, now: number, quarter: number, failed: number): string {
    this.#saidAt = now;
    this.#quarter = quarter;
    this.#failed = failed;
    return text;
  }
}
