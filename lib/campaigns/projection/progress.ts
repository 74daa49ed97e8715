import { isObject } from "@/lib/std/is_object.ts";
import { clip, member } from "@/lib/std/untrusted.ts";
import { Fraction, integerOf, parseBucketJson } from "./bucket_json.ts";
import { instantOf } from "./instants.ts";
import { MAX_BUCKET_TEXT, readQuality } from "./quality.ts";
import { roundToEven } from "./rounding.ts";
import type { PageError, Progress, ProgressAnswer, StoredProgress, VolumeState } from "./types.ts";

/** Which of a volume's two files an answer is about. */
export type ProgressFile = "progress" | "manifest";

/**
 * What an HTTP answer to the read of a progress file means. `status` null: no answer came. `body` null: it was too
 * large, encoded, or not wanted. A missing or broken file is an answer (there is no progress); a store that is busy,
 * away or asks for a login has not answered.
 */
export function judgeAnswer(
  file: ProgressFile,
  status: number | null,
  body: Uint8Array | null,
): ProgressAnswer {
  if (status === null || status >= 500 || UNANSWERED.has(status)) return UNREAD;
  if (status === 403) {
    return { answered: true, forbidden: true, progress: null };
  }
  const progress = status === 200 && body ? READERS[file](parseBucketJson(body)) : null;
  return { answered: true, forbidden: false, progress };
}

/** A volume whose progress was not read. */
export const UNREAD: ProgressAnswer = {
  answered: false,
  forbidden: false,
  progress: null,
};

/**
 * Whether manifest.json should be asked after progress.json: only for a volume that is over and not failed, whose
 * worker may have been an older one that wrote no progress.
 */
export function needsManifest(
  state: VolumeState,
  answer: ProgressAnswer,
): boolean {
  return (state === "done" || state === "unknown") && answer.answered &&
    !answer.forbidden && answer.progress === null;
}

/** Whether a volume is over, so that its files no longer change. */
export function isOver(state: VolumeState): boolean {
  return state === "done" || state === "failed" || state === "unknown";
}

/** Reads progress.json, parsed by `parseBucketJson`; null unless it tells the number of pages (spec, progress). */
export function readProgress(file: unknown): StoredProgress | null {
  const total = integerOf(member(file, "pages_total"));
  if (total === null) return null;
  return {
    done: integerOf(member(file, "pages_done")) ?? 0,
    total,
    failed: integerOf(member(file, "pages_failed")) ?? 0,
    lastPage: textOf(member(file, "last_page")),
    stage: textOf(member(file, "stage")),
    updatedAt: textOf(member(file, "updated_at")),
    lastError: readPageError(member(file, "last_error")),
    errors: integerOf(member(file, "errors")) ?? 0,
    viewerPublished: isTruthy(member(file, "viewer_published")),
    quality: readQuality(member(file, "quality"), total),
  };
}

/** Reads the same from manifest.json; null unless it has the number of pages and a result for each of them. */
export function readManifest(file: unknown): StoredProgress | null {
  const total = integerOf(member(file, "pages"));
  const results = member(file, "results");
  if (total === null || !isObject(results)) return null;
  const statuses = Object.values(results).map((result) => member(result, "status"));
  return {
    done: statuses.filter((status) => status === "ok" || status === "skipped")
      .length,
    total,
    failed: statuses.filter((status) => status === "failed").length,
    lastPage: null,
    stage: "done",
    updatedAt: null,
    lastError: null,
    errors: 0,
    viewerPublished: true,
    quality: readQuality(member(file, "quality"), total),
  };
}

/** When a file says that it was written, ms since 1970; null when it does not say. */
export function updatedInstant({ updatedAt }: StoredProgress): number | null {
  return updatedAt === null ? null : instantOf(updatedAt);
}

/**
 * Progress as an answer shows it: with its age at `now` (milliseconds since 1970). Who shows a file again and again gives
 * its instant.
 */
export function withAge(progress: StoredProgress, now: number, updated = updatedInstant(progress)): Progress {
  return {
    ...progress,
    ageSeconds: updated === null ? null : Math.max(0, roundToEven((now - updated) / 1000)),
  };
}

const READERS: Readonly<
  Record<ProgressFile, (file: unknown) => StoredProgress | null>
> = {
  progress: readProgress,
  manifest: readManifest,
};

const UNANSWERED: ReadonlySet<number> = new Set([401, 408, 429]);

function readPageError(value: unknown): PageError | null {
  const error = textOf(member(value, "error"));
  return error === null ? null : { page: textOf(member(value, "page")), error };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? clip(value, MAX_BUCKET_TEXT) : null;
}

/** What the worker's own language takes for true. */
function isTruthy(value: unknown): boolean {
  if (value instanceof Fraction) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}
