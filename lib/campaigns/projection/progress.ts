import { clip, entries, isObject, member } from "@/lib/std/untrusted.ts";
import type {
  LowestPage,
  PageError,
  Progress,
  ProgressAnswer,
  RunState,
  StoredProgress,
  VolumeQuality,
} from "./types.ts";
import { Fraction, instantOf, integerOf, numberOf, parseBucketJson, roundToEven } from "./values.ts";

/** The two files with a volume's progress. */
export type ProgressFile = "progress" | "manifest";

/**
 * The meaning of the response to the read of a progress file. `status` null: no response. `body` null: it was too large,
 * encoded, or not needed. A missing or invalid file counts as answered, without progress; a store that is busy,
 * unreachable or requires a login has not answered.
 */
export function judgeAnswer(file: ProgressFile, status: number | null, body: Uint8Array | null): ProgressAnswer {
  if (status === null || status >= 500 || UNANSWERED.has(status)) return UNREAD;
  if (status === 403) return FORBIDDEN;
  const progress = status === 200 && body ? READERS[file](parseBucketJson(body)) : null;
  return progress === null ? ABSENT : { answered: true, forbidden: false, progress };
}

/** A volume whose progress was not read. */
export const UNREAD: ProgressAnswer = { answered: false, forbidden: false, progress: null };

const FORBIDDEN: ProgressAnswer = { answered: true, forbidden: true, progress: null };
const ABSENT: ProgressAnswer = { answered: true, forbidden: false, progress: null };

/**
 * Whether manifest.json should be read after progress.json: only for a volume that has ended without failure, whose
 * worker may be an older version that wrote no progress.
 */
export function needsManifest(state: RunState, answer: ProgressAnswer): boolean {
  return state !== "failed" && isOver(state) && answer.answered && !answer.forbidden && answer.progress === null;
}

/** Whether a volume has ended, so that its files no longer change. */
export function isOver(state: RunState): boolean {
  return state !== "pending" && state !== "active";
}

/** Reads progress.json, parsed by `parseBucketJson`; null unless it contains the number of pages (spec, progress). */
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
    done: statuses.filter((status) => status === "ok" || status === "skipped").length,
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

/** The time of writing in a file, ms since 1970; null when it is absent. */
export function updatedInstant({ updatedAt }: StoredProgress): number | null {
  return updatedAt === null ? null : instantOf(updatedAt);
}

/**
 * Whether the last write of a file (ms since 1970, null: unknown) precedes the volume's newest attempt: an earlier attempt
 * or an earlier run of the campaign wrote it.
 */
export function isOfEarlierAttempt(updated: number | null, attemptAt: number | null): boolean {
  return updated !== null && attemptAt !== null && updated < attemptAt;
}

/**
 * Progress as a response shows it: with its age at `now` (milliseconds since 1970). `updated` saves parsing the time again
 * for a cached file.
 */
export function withAge(progress: StoredProgress, now: number, updated = updatedInstant(progress)): Progress {
  return { ...progress, ageSeconds: updated === null ? null : ageSeconds(updated, now) };
}

/** The age at `now` of what was written at an instant, both ms since 1970; never negative. */
export function ageSeconds(instant: number, now: number): number {
  return Math.max(0, roundToEven((now - instant) / 1000));
}

const READERS = { progress: readProgress, manifest: readManifest };

const UNANSWERED: ReadonlySet<number> = new Set([401, 408, 429]);

function readPageError(value: unknown): PageError | null {
  const error = textOf(member(value, "error"));
  return error === null ? null : { page: textOf(member(value, "page")), error };
}

/** Truth by the rules of Python, the worker's language. */
function isTruthy(value: unknown): boolean {
  if (value instanceof Fraction) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Lowest pages that a volume or a campaign names (spec, Limits). */
export const MAX_LOWEST_PAGES = 5;
/** No volume has more pages; a larger figure would only spoil the campaign's mean. */
const MAX_SCORED_PAGES = 10_000_000;
/** Characters of a text from the bucket. */
const MAX_BUCKET_TEXT = 300;

/**
 * Reads the quality block of a volume's file. Null when it could not have been written for a volume of `pages` pages: a
 * mean or a minimum outside 0..1, no scored page or more of them than pages, a wrong type (spec, progress).
 */
export function readQuality(value: unknown, pages: number): VolumeQuality | null {
  if (!isObject(value)) return null;
  const mean = scoreOf(member(value, "mean"));
  const min = scoreOf(member(value, "min"));
  const scored = integerOf(member(value, "scored"));
  if (mean === null || min === null || scored === null) return null;
  if (scored < 1 || scored > Math.min(pages, MAX_SCORED_PAGES)) return null;
  return {
    mean,
    min,
    scored,
    model: textOf(member(value, "model")),
    revision: textOf(member(value, "revision")),
    lowest: readLowest(member(value, "lowest")),
  };
}

/** The first valid entries; of a page that is named twice, the first. */
function readLowest(value: unknown): LowestPage[] {
  const lowest = new Map<string, LowestPage>();
  for (const entry of entries(value)) {
    const quality = scoreOf(member(entry, "quality"));
    const page = textOf(member(entry, "page"));
    if (quality === null || page === null || lowest.has(page)) continue;
    const canvas = integerOf(member(entry, "canvas"));
    lowest.set(page, { page, quality, canvas: canvas !== null && canvas >= 0 ? canvas : null });
    if (lowest.size === MAX_LOWEST_PAGES) break;
  }
  return [...lowest.values()];
}

function scoreOf(value: unknown): number | null {
  const score = numberOf(value);
  return score !== null && score >= 0 && score <= 1 ? score : null;
}

/** A text of the bucket, cut to its limit; null for anything else. */
function textOf(value: unknown): string | null {
  return typeof value === "string" ? clip(value, MAX_BUCKET_TEXT) : null;
}
