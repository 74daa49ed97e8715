import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/uploads.ts";
import * as sv from "@/locales/sv/uploads.ts";

export const UPLOAD_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const UPLOAD_HEADS = inLanguage({ en: en.HEADS, sv: sv.HEADS });
export const UPLOAD_STATES = inLanguage({ en: en.STATES, sv: sv.STATES });
export const UPLOAD_NOTICES = inLanguage({ en: en.NOTICES, sv: sv.NOTICES });
const FAULTS = inLanguage({ en: en.FAULTS, sv: sv.FAULTS });

/**
 * Why a file was not uploaded, and what to do.
 *
 * @param fault its detail is what the store said
 * @param sent how much had left, formatted
 */
export function faultSentence(
  { kind, detail = null }: { readonly kind: keyof typeof en.FAULTS; readonly detail?: string | null },
  sent = "",
): string {
  switch (kind) {
    case "lost":
      return FAULTS.lost(sent);
    case "busy":
    case "refused":
      return FAULTS[kind](detail === null ? "" : `${detail.replace(/[.\s]*$/, ".")} `).trimEnd();
    default:
      return FAULTS[kind];
  }
}

/** Files of the uploads of a page, counted by what has become of them. */
export interface UploadCounts extends Readonly<Record<CountedState, number>> {
  readonly all: number;
  /** `stopped`: for a reason that concerns all files. */
  readonly state: "running" | "paused" | "stopped" | "ended";
}

/** `inUse`: the name is in use and the reader has not decided yet; `looking`: the name is being looked up. */
type CountedState = "done" | "skipped" | "cancelled" | "failed" | "inUse" | "looking";

/** How far uploads are: `3 of 5 uploaded · 1 skipped · 1 left`. A file that was skipped is never counted as uploaded. */
export function uploadHead(counts: UploadCounts): string {
  const { all, done, skipped, cancelled, failed, inUse, looking, state } = counts;
  if (done === all && all > 0 && state === "ended") return UPLOAD_HEADS.allUploaded(done);
  if (cancelled === all) return UPLOAD_HEADS.none;
  if (looking === all) return UPLOAD_HEADS.looking(all);
  const left = all - done - skipped - cancelled - failed - inUse;
  return [
    state === "paused" && UPLOAD_HEADS.paused,
    state === "stopped" && UPLOAD_HEADS.stopped,
    UPLOAD_HEADS.uploaded(done, all),
    skipped > 0 && UPLOAD_HEADS.skipped(skipped),
    cancelled > 0 && UPLOAD_HEADS.cancelled(cancelled),
    failed > 0 && UPLOAD_HEADS.failed(failed),
    inUse > 0 && UPLOAD_HEADS.inUse(inUse),
    left > 0 && UPLOAD_HEADS.left(left),
  ].filter(Boolean).join(" · ");
}

/** Shortest time between two announcements while files are on their way, ms. */
const BETWEEN_MS = 10_000;

interface UploadProgress {
  readonly counts: UploadCounts;
  /** The share of the bytes that have left. */
  readonly percent: number;
  /** ms on a clock that only grows */
  readonly now: number;
}

/**
 * Announcements of uploads to a screen reader: their start, each quarter, failures and the end. Thousands of files change many
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
