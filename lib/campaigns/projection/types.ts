/**
 * Campaign phase (spec, States and transitions); `Unknown` only where the Job is gone and its ending was never
 * recorded.
 */
export type Phase =
  | "Queued"
  | "Paused"
  | "Running"
  | "Succeeded"
  | "PartiallyFailed"
  | "Failed"
  | "Unknown";

export type WarmupPhase =
  | "missing"
  | "pending"
  | "running"
  | "succeeded"
  | "failed";

/** Volume state; `unknown` only where the Job is gone. */
export type VolumeState = "pending" | "active" | "done" | "failed" | "unknown";

/**
 * The state of a volume before it is shown. `unfinished`: its Job has ended and has no result of it. It is shown as
 * pending, but may have run, so its progress is read like that of a volume that is over.
 */
export type RunState = VolumeState | "unfinished";

/** Why a volume or a warm-up failed. */
export interface Reason {
  /** Where the worker was, such as `stream` or `verify`. */
  readonly stage: string | null;
  /** Whether the worker reported that a retry is useless. */
  readonly permanent: boolean | null;
  readonly error: string;
}

/** Why the container of a pod does not start, such as `ImagePullBackOff`, in the cluster's words. */
export interface ContainerWaiting {
  readonly reason: string;
  readonly message: string | null;
}

export interface Warmup {
  readonly phase: WarmupPhase;
  /** Only for `failed`, and only when a pod has one. */
  readonly reason?: Reason;
  /** Only for `running`, while the newest pod cannot start. */
  readonly containerWaiting?: ContainerWaiting;
}

/**
 * What keeps a campaign from working. `suspended`: its Job is suspended and no queue holds it. `queue`: a queue has not
 * admitted it. `quota`: its queue has no quota for it. `warmup`: no volume has ended, and the warm-up has not succeeded.
 * `unschedulable`: no node takes its pods. `no-pods`: it should run and has no pod.
 */
export type WaitingCode = "suspended" | "queue" | "quota" | "warmup" | "unschedulable" | "no-pods";

/** Why a campaign that has not ended does no work. Pods are considered only by a detail. */
export interface Waiting {
  readonly code: WaitingCode;
  /** The cluster's word for it, such as `JobSuspended` or `Unschedulable`. */
  readonly reason: string;
  /** The cluster's sentence. */
  readonly message: string | null;
  /** RFC 3339. */
  readonly since: string | null;
}

/** Why a Job ended, or is being ended, before all of its volumes were done. */
export interface JobEnding {
  /** The reason of the Job's condition, such as `DeadlineExceeded` or `SuccessPolicy`. */
  readonly reason: string;
  /** The cluster's sentence. */
  readonly message: string | null;
}

interface Counts {
  /** The Job's completions. */
  readonly total: number;
  readonly active: number;
  readonly done: number;
  readonly failed: number;
}

/** One campaign of `GET /api/v1/jobs` (spec, JobSummary), with the extra members `campaign`, `waiting` and `ending`. */
export interface JobSummary {
  readonly namespace: string;
  /** The Job's name. */
  readonly name: string;
  /** The campaign file's name, shared by all parts of a campaign that was split. */
  readonly campaign: string;
  readonly pipeline: string;
  readonly phase: Phase;
  readonly counts: Counts;
  readonly suspended: boolean;
  /** RFC 3339, like the two below; null for an object without one. */
  readonly createdAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly resultsBase: string;
  readonly warmup: Warmup;
  readonly jobGone: boolean;
  readonly qualityPrediction: boolean;
  readonly waiting: Waiting | null;
  readonly ending: JobEnding | null;
}

export interface PageError {
  readonly page: string | null;
  readonly error: string;
}

/** One of the worst pages of a volume. */
export interface LowestPage {
  readonly page: string;
  /** 0..1. */
  readonly quality: number;
  /** Index of the page's canvas in the volume's iiif.json. */
  readonly canvas: number | null;
}

/** Predicted quality of one volume's pages. */
export interface VolumeQuality {
  readonly mean: number;
  readonly min: number;
  /** Pages that got a score. */
  readonly scored: number;
  readonly model: string | null;
  readonly revision: string | null;
  readonly lowest: readonly LowestPage[];
}

/** The content of a volume's progress file. The age is added to each response, because a cached file grows older. */
export interface StoredProgress {
  /** Pages, like total and failed. */
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly lastPage: string | null;
  readonly stage: string | null;
  readonly updatedAt: string | null;
  readonly lastError: PageError | null;
  /** Log records of level ERROR or worse. */
  readonly errors: number;
  /** iiif.json has been written, perhaps an interim one. */
  readonly viewerPublished: boolean;
  readonly quality: VolumeQuality | null;
}

export interface Progress extends StoredProgress {
  /** Seconds since `updatedAt` by our own clock, never negative. */
  readonly ageSeconds: number | null;
}

/** The result of a read of one volume's progress. */
export interface ProgressAnswer {
  /** False when the bucket did not respond (a timeout, 5xx and the like): such a volume is not counted. */
  readonly answered: boolean;
  /** The results store denied this user the file. */
  readonly forbidden: boolean;
  readonly progress: StoredProgress | null;
}

/** The result URLs of one volume. */
export interface VolumeLinks {
  readonly manifestUrl: string;
  readonly iiifUrl: string;
  readonly altoPrefix: string;
  readonly logUrl: string;
}

/** One volume of a campaign (spec, VolumeView). */
export interface VolumeView extends VolumeLinks {
  /** The Job's index and the line of volumes.txt, from 0. */
  readonly index: number;
  readonly id: string;
  readonly state: VolumeState;
  readonly sourceUrl: string | null;
  readonly progress: Progress | null;
  readonly forbidden: boolean;
  /** When the newest attempt of an active volume wrote its last progress, RFC 3339; null within `STALLED_AFTER_MS`. */
  readonly stalledSince: string | null;
  /** Absent when unknown. */
  readonly reason?: Reason;
  /** Only for an active volume whose newest pod cannot start. */
  readonly containerWaiting?: ContainerWaiting;
  /** Present for a pending or active volume whose Job starts no more attempts. */
  readonly final?: true;
}

/** The most recent page failure of a campaign. */
export interface CampaignError extends PageError {
  /** The volume's id. */
  readonly volume: string;
  readonly logUrl: string;
}

/** One of the worst pages of a campaign. */
export interface CampaignLowestPage extends LowestPage {
  /** The volume's id. */
  readonly volume: string;
  readonly iiifUrl: string;
}

/** Predicted quality over all volumes that scored a page. */
export interface CampaignQuality {
  readonly mean: number;
  readonly min: number;
  readonly scored: number;
  readonly volumes: number;
  readonly lowest: readonly CampaignLowestPage[];
}

interface PagesCoverage {
  /** Volumes whose progress was read. */
  readonly counted: number;
  /** Volumes that have started. */
  readonly of: number;
}

/** Page sums of a campaign over every volume whose progress has been read. */
export interface PageSums {
  readonly pagesDone: number;
  readonly pagesTotal: number;
  readonly pagesFailed: number;
  readonly errors: number;
  readonly lastError: CampaignError | null;
  readonly pagesCoverage: PagesCoverage;
  readonly quality: CampaignQuality | null;
}

/** The speed of a running campaign. Both estimates are null until enough pages were counted. */
export interface Pace {
  readonly pagesPerMinute: number | null;
  /** When all volumes will have ended, RFC 3339; null as well while no page is done. */
  readonly endsAt: string | null;
  /** The time over which pages were counted, seconds. */
  readonly window: number;
}

/** A point of a campaign's course. The counts are sums since its start, of the volumes whose progress was read. */
export interface TimelineEntry {
  /** RFC 3339. */
  readonly at: string;
  readonly volumesDone: number;
  readonly volumesFailed: number;
  /** Pages of these volumes. */
  readonly pagesDone: number;
}

/**
 * `GET /api/v1/jobs/{namespace}/{name}` (spec, JobDetail), with the extra members `pace`, `timeline` and
 * `pipelineModels`.
 */
export interface JobDetail extends JobSummary, PageSums {
  readonly volumes: readonly VolumeView[];
  readonly failures: readonly VolumeView[];
  readonly latest: VolumeView | null;
  /** Null for a campaign that does not run. */
  readonly pace: Pace | null;
  /** Ascending; empty while no volume is known to have ended. */
  readonly timeline: readonly TimelineEntry[];
  readonly pipelineSteps: readonly string[];
  readonly pipelineYaml: string;
  /** The models in the document, so that browsers need not parse it. */
  readonly pipelineModels: readonly PipelineModel[];
}

/** A model that a pipeline loads. */
export interface PipelineModel {
  readonly model: string;
  /** null: unpinned. */
  readonly revision: string | null;
}

/** The content of a pipeline's ConfigMap. */
export interface Pipeline {
  readonly steps: readonly string[];
  readonly models: readonly PipelineModel[];
  readonly yaml: string;
  readonly scoresQuality: boolean;
}

/** A pipeline whose ConfigMap is gone or unreadable. */
export const NO_PIPELINE: Pipeline = { steps: [], models: [], yaml: "", scoresQuality: false };
