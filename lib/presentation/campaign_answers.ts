import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { isObject } from "@/lib/std/is_object.ts";

/** A list as it was answered: rows that cannot be read are counted and left out. */
interface ReadList {
  readonly jobs: readonly JobSummary[];
  readonly skipped: number;
}

/** Reads the answer of `GET /api/v1/jobs`; null when it is no list, or a list without a single readable row. */
export function readJobList(answer: unknown): ReadList | null {
  if (!Array.isArray(answer)) return null;
  const jobs = answer.filter(isSummary);
  const skipped = answer.length - jobs.length;
  return jobs.length === 0 && skipped > 0 ? null : { jobs, skipped };
}

/**
 * Reads the answer of `GET /api/v1/jobs/{namespace}/{name}`; null when any part of it is not as promised.
 * What goes beyond the contract is dropped where it cannot be read.
 */
export function readJobDetail(answer: unknown): JobDetail | null {
  if (!isSummary(answer) || !isDetail(answer)) return null;
  return {
    ...answer,
    volumes: answer.volumes.map(readVolume),
    failures: answer.failures.map(readVolume),
    latest: isVolume(answer.latest) ? readVolume(answer.latest) : null,
    pace: isPace(answer.pace) ? answer.pace : null,
    timeline: isListOf(answer.timeline, isTimelineEntry) ? answer.timeline : [],
  };
}

type Shape = Readonly<Record<string, unknown>>;

function isSummary(value: unknown): value is JobSummary {
  return isShape(value) && texts(value, ["namespace", "name", "pipeline"]) && PHASES.has(value.phase) &&
    value.namespace !== "" && value.name !== "" &&
    isShape(value.counts) && counts(value.counts, ["total", "active", "done", "failed"]) &&
    isShape(value.warmup) && typeof value.warmup.phase === "string" && isReasonOrNone(value.warmup.reason) &&
    textsOrNull(value, ["createdAt", "startedAt", "finishedAt"]) && typeof value.jobGone === "boolean";
}

function isDetail(value: object): value is JobDetail {
  return isShape(value) && isListOf(value.volumes, isVolume) && isListOf(value.failures, isVolume) &&
    counts(value, ["pagesDone", "pagesTotal", "pagesFailed", "errors"]) &&
    isShape(value.pagesCoverage) && counts(value.pagesCoverage, ["counted", "of"]) &&
    isListOf(value.pipelineSteps, isText) && isText(value.pipelineYaml) &&
    (value.lastError === null || isShape(value.lastError) && texts(value.lastError, ["volume", "error", "logUrl"])) &&
    (value.quality === null || isShape(value.quality) && counts(value.quality, ["mean", "min", "scored", "volumes"]) &&
        isListOf(value.quality.lowest, isLowestPage));
}

function isVolume(value: unknown): value is VolumeView {
  return isShape(value) && counts(value, ["index"]) && texts(value, ["id", "manifestUrl", "iiifUrl", "logUrl"]) &&
    STATES.has(value.state) && isReasonOrNone(value.reason) && (value.progress === null || isProgress(value.progress));
}

function isProgress(value: unknown): boolean {
  return isShape(value) && counts(value, ["done", "total", "failed", "errors"]) &&
    textsOrNull(value, ["stage", "lastPage", "updatedAt"]) &&
    (value.ageSeconds === null || typeof value.ageSeconds === "number") &&
    (value.lastError === null || isShape(value.lastError) && isText(value.lastError.error)) &&
    (value.quality === null || isShape(value.quality) && counts(value.quality, ["mean", "min", "scored"]));
}

function isLowestPage(value: unknown): boolean {
  return isShape(value) && texts(value, ["volume", "page"]) && counts(value, ["quality"]);
}

function isReasonOrNone(value: unknown): boolean {
  return value === undefined || value === null ||
    isShape(value) && isText(value.error) && (value.stage === null || isText(value.stage));
}

function isPace(value: unknown): boolean {
  return isShape(value) && counts(value, ["window"]) && textsOrNull(value, ["endsAt"]) &&
    (value.pagesPerMinute === null || counts(value, ["pagesPerMinute"]));
}

function isTimelineEntry(value: unknown): boolean {
  return isShape(value) && texts(value, ["at"]) && counts(value, ["volumesDone", "volumesFailed", "pagesDone"]);
}

/** A source goes into a link: what is no web address is no link. */
function readVolume(volume: VolumeView): VolumeView {
  const url = typeof volume.sourceUrl === "string" ? URL.parse(volume.sourceUrl) : null;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  const stalledSince = isText(volume.stalledSince) ? volume.stalledSince : null;
  return { ...volume, stalledSince, sourceUrl: isWeb ? volume.sourceUrl : null };
}

const PHASES: ReadonlySet<unknown> = new Set([
  "Queued",
  "Paused",
  "Running",
  "Succeeded",
  "PartiallyFailed",
  "Failed",
  "Unknown",
]);
const STATES: ReadonlySet<unknown> = new Set(["pending", "active", "done", "failed", "unknown"]);

function isShape(value: unknown): value is Shape {
  return isObject(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function texts(shape: Shape, members: readonly string[]): boolean {
  return members.every((member) => isText(shape[member]));
}

function textsOrNull(shape: Shape, members: readonly string[]): boolean {
  return members.every((member) => shape[member] === null || isText(shape[member]));
}

function counts(shape: Shape, members: readonly string[]): boolean {
  return members.every((member) => Number.isFinite(shape[member]));
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
