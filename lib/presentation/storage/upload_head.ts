import { UPLOAD_HEADS } from "./upload_sentences.ts";

/** Files of the uploads of a page, counted by what has become of them. */
export interface UploadCounts {
  readonly all: number;
  readonly done: number;
  readonly skipped: number;
  readonly cancelled: number;
  readonly failed: number;
  /** Files whose name is in use while it is not decided what happens to them. */
  readonly inUse: number;
  /** Files whose name is being looked up. */
  readonly looking: number;
  /** `stopped`: for a reason that concerns all files. */
  readonly state: "running" | "paused" | "stopped" | "ended";
}

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
