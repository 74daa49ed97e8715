import { z } from "zod";

/** The most entries of a timeline: the start and the ends of the intervals. */
export const MAX_TIMELINE_ENTRIES = 60;

const count = z.int().min(0);
const time = z.string().nullable().meta({ description: "RFC 3339" });

const reason = z.object({
  stage: z.string().nullable().meta({ description: "Stage of the worker" }),
  permanent: z.boolean().nullable().meta({ description: "Whether a retry is useless" }),
  error: z.string(),
}).meta({ id: "Reason" });

const containerWaiting = z.object({
  reason: z.string().meta({ description: "Reason given by the cluster, such as ImagePullBackOff" }),
  message: z.string().nullable(),
}).meta({ id: "ContainerWaiting", description: "Why the container of a pod does not start" });

const summaryMembers = {
  namespace: z.string(),
  name: z.string().meta({ description: "The Job's name" }),
  campaign: z.string().meta({ description: "The campaign file's name, shared by all parts of a split campaign" }),
  pipeline: z.string(),
  phase: z.enum(["Queued", "Paused", "Running", "Succeeded", "PartiallyFailed", "Failed", "Unknown"]),
  counts: z.object({ total: count, active: count, done: count, failed: count }).meta({ id: "VolumeCounts" }),
  suspended: z.boolean(),
  createdAt: time,
  startedAt: time,
  finishedAt: time,
  resultsBase: z.string().meta({ description: "Base URL of the results" }),
  warmup: z.object({
    phase: z.enum(["missing", "pending", "running", "succeeded", "failed"]),
    reason: reason.optional(),
    containerWaiting: containerWaiting.optional(),
  }).meta({ id: "Warmup" }),
  jobGone: z.boolean(),
  qualityPrediction: z.boolean(),
  waiting: z.object({
    code: z.enum(["suspended", "queue", "quota", "warmup", "unschedulable", "no-pods"]),
    reason: z.string().meta({ description: "Reason given by the cluster" }),
    message: z.string().nullable().meta({ description: "Message of the cluster" }),
    since: time,
  }).meta({ id: "Waiting", description: "Why an unfinished campaign makes no progress" }).nullable(),
  ending: z.object({
    reason: z.string().meta({ description: "The reason of the Job's condition, such as DeadlineExceeded" }),
    message: z.string().nullable().meta({ description: "Message of the cluster" }),
  }).meta({ id: "JobEnding", description: "Why the Job ended before all its volumes were done" })
    .nullable(),
};

/** One campaign of the list (spec, JobSummary). */
const jobSummary = z.object(summaryMembers).meta({ id: "JobSummary" });

export const jobList = z.array(jobSummary);

const lowestPage = {
  page: z.string(),
  quality: z.number().meta({ description: "0 to 1" }),
  canvas: z.int().nullable().meta({ description: "Index of its canvas in iiif.json" }),
};

const quality = {
  mean: z.number(),
  min: z.number(),
  scored: count.meta({ description: "Number of pages with a score" }),
};

const progress = z.object({
  done: count,
  total: count,
  failed: count,
  lastPage: z.string().nullable(),
  stage: z.string().nullable(),
  updatedAt: time,
  lastError: z.object({ page: z.string().nullable(), error: z.string() }).meta({ id: "PageError" }).nullable(),
  errors: count,
  viewerPublished: z.boolean(),
  quality: z.object({
    ...quality,
    model: z.string().nullable(),
    revision: z.string().nullable(),
    lowest: z.array(z.object(lowestPage).meta({ id: "LowestPage" })),
  }).meta({ id: "VolumeQuality" }).nullable(),
  ageSeconds: z.number().nullable().meta({ description: "Seconds since `updatedAt`" }),
}).meta({ id: "Progress" });

const volume = z.object({
  index: count.meta({ description: "The Job's index, and the line of the list of volumes, from 0" }),
  id: z.string(),
  state: z.enum(["pending", "active", "done", "failed", "unknown"]),
  sourceUrl: z.string().nullable(),
  manifestUrl: z.string(),
  iiifUrl: z.string(),
  altoPrefix: z.string(),
  logUrl: z.string(),
  progress: progress.nullable(),
  forbidden: z.boolean().meta({ description: "Whether this user may not read the progress" }),
  stalledSince: z.string().nullable().meta({
    description: "Time of the last progress of a stalled active volume, RFC 3339",
  }),
  reason: reason.optional(),
  containerWaiting: containerWaiting.optional(),
  final: z.literal(true).optional().meta({
    description: "Present if a pending or active volume will not be retried",
  }),
}).meta({ id: "VolumeView" });

/** One campaign with a page of its volumes (spec, JobDetail). */
export const jobDetail = z.object({
  ...summaryMembers,
  volumes: z.array(volume),
  failures: z.array(volume),
  latest: volume.nullable(),
  pace: z.object({
    pagesPerMinute: z.number().nullable().meta({ description: "null: not known yet" }),
    endsAt: time,
    window: count.meta({ description: "Length of the measurement in seconds" }),
  }).meta({ id: "Pace", description: "The speed of a running campaign" }).nullable(),
  timeline: z.array(
    z.object({
      at: z.string().meta({ description: "RFC 3339" }),
      volumesDone: count,
      volumesFailed: count,
      pagesDone: count,
    })
      .meta({ id: "TimelineEntry" }),
  ).meta({
    description: `Totals over time for the volumes whose progress was read, at most ${MAX_TIMELINE_ENTRIES} entries`,
  }),
  pagesDone: count,
  pagesTotal: count,
  pagesFailed: count,
  errors: count,
  lastError: z.object({ page: z.string().nullable(), error: z.string(), volume: z.string(), logUrl: z.string() })
    .meta({ id: "CampaignError" }).nullable(),
  pagesCoverage: z.object({ counted: count, of: count }).meta({
    id: "PagesCoverage",
    description: "Volumes whose progress was read (`counted`) of those that have started (`of`)",
  }),
  quality: z.object({
    ...quality,
    volumes: count,
    lowest: z.array(
      z.object({ ...lowestPage, volume: z.string(), iiifUrl: z.string() }).meta({ id: "CampaignLowestPage" }),
    ),
  }).meta({ id: "CampaignQuality" }).nullable(),
  pipelineSteps: z.array(z.string()),
  pipelineYaml: z.string(),
  pipelineModels: z.array(
    z.object({
      model: z.string(),
      revision: z.string().nullable().meta({ description: "null: not pinned" }),
    }).meta({ id: "PipelineModel" }),
  ),
}).meta({ id: "JobDetail" });

type Fixed<T> = T extends readonly (infer I)[] ? readonly Fixed<I>[]
  : T extends object ? { readonly [K in keyof T]: Fixed<T[K]> }
  : T;

/** One campaign of `GET /api/v1/jobs` (spec, JobSummary), with the extra members `campaign`, `waiting` and `ending`. */
export type JobSummary = Fixed<z.output<typeof jobSummary>>;
/** Campaign phase (spec, States and transitions); `Unknown` only where the Job is gone and its ending was never recorded. */
export type Phase = JobSummary["phase"];
/** `reason` only for `failed`; `containerWaiting` only for `running`, while the newest pod cannot start. */
export type Warmup = JobSummary["warmup"];
export type WarmupPhase = Warmup["phase"];
/** Why a volume or a warm-up failed. */
export type Reason = NonNullable<Warmup["reason"]>;
/** Why the container of a pod does not start, in the cluster's words. */
export type ContainerWaiting = NonNullable<Warmup["containerWaiting"]>;
/** Why a campaign that has not ended does no work. Pods are considered only by a detail. */
export type Waiting = NonNullable<JobSummary["waiting"]>;
/**
 * Why a campaign does not work. `suspended`: its Job is suspended and no queue holds it. `queue`: a queue has not
 * admitted it. `quota`: its queue has no quota for it. `warmup`: no volume has ended, and the warm-up has not succeeded.
 * `unschedulable`: no node takes its pods. `no-pods`: it should run and has no pod.
 */
export type WaitingCode = Waiting["code"];
/** Why a Job ended, or is being ended, before all of its volumes were done. */
export type JobEnding = NonNullable<JobSummary["ending"]>;

/**
 * `GET /api/v1/jobs/{namespace}/{name}` (spec, JobDetail), with the extra members `pace`, `timeline` and `pipelineModels`.
 */
export type JobDetail = Fixed<z.output<typeof jobDetail>>;
/** The speed of a running campaign. Both estimates are null until enough pages were counted. */
export type Pace = NonNullable<JobDetail["pace"]>;
/** A point of a campaign's course. The counts are sums since its start, of the volumes whose progress was read. */
export type TimelineEntry = JobDetail["timeline"][number];
/** The most recent page failure of a campaign. */
export type CampaignError = NonNullable<JobDetail["lastError"]>;
/** A page of the lowest predicted quality. */
export type CampaignLowestPage = NonNullable<JobDetail["quality"]>["lowest"][number];
/** Page sums of a campaign over every volume whose progress has been read. */
export type PageSums = Pick<
  JobDetail,
  "pagesDone" | "pagesTotal" | "pagesFailed" | "errors" | "lastError" | "pagesCoverage" | "quality"
>;

/** One volume of a campaign (spec, VolumeView). */
export type VolumeView = JobDetail["volumes"][number];
/** Volume state; `unknown` only where the Job is gone. */
export type VolumeState = VolumeView["state"];
/** The result URLs of one volume. */
export type VolumeLinks = Pick<VolumeView, "manifestUrl" | "iiifUrl" | "altoPrefix" | "logUrl">;
export type Progress = NonNullable<VolumeView["progress"]>;
export type PageError = NonNullable<Progress["lastError"]>;
/** Predicted quality of one volume's pages. */
export type VolumeQuality = NonNullable<Progress["quality"]>;
export type LowestPage = VolumeQuality["lowest"][number];
/** The content of a volume's progress file. The age is added to each response, because a cached file grows older. */
export type StoredProgress = Omit<Progress, "ageSeconds">;

/**
 * The state of a volume before it is shown. `unfinished`: its Job has ended and has no result of it. It is shown as
 * pending, but may have run, so its progress is read like that of a volume that is over.
 */
export type RunState = VolumeState | "unfinished";

/** The result of a read of one volume's progress. */
export interface ProgressAnswer {
  /** False when the bucket did not respond (a timeout, 5xx and the like): such a volume is not counted. */
  readonly answered: boolean;
  /** The results store denied this user the file. */
  readonly forbidden: boolean;
  readonly progress: StoredProgress | null;
}

/** A model that a pipeline loads. */
export type PipelineModel = JobDetail["pipelineModels"][number];

/** The content of a pipeline's ConfigMap. */
export interface Pipeline {
  readonly steps: readonly string[];
  readonly models: readonly PipelineModel[];
  readonly yaml: string;
  readonly scoresQuality: boolean;
}

/** A pipeline whose ConfigMap is gone or unreadable. */
export const NO_PIPELINE: Pipeline = { steps: [], models: [], yaml: "", scoresQuality: false };
