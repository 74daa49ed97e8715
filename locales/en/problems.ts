import { counted, formatCount } from "@/lib/presentation/locale/figures.ts";

/** The words of problems of campaigns and volumes, of what they wait for, and of their states. */
export const PROBLEMS = {
  unexplained: "The volume failed, and nothing is left that says why.",
  notTriedAgain: "Not tried again.",
  triedAgain: "It will be tried again.",
  forbidden: "Your account may not read this volume.",

  noWarmupHeld: (pipeline: string) =>
    `There is no warm-up of the pipeline ${pipeline}, and no volume starts before one succeeds. Start one.`,
  noWarmup: (pipeline: string) =>
    `There is no warm-up of the pipeline ${pipeline}, and the next campaign of this pipeline waits for one.`,
  warmupHolds: "No volume starts before it succeeds: mend the cause, then start the warm-up again.",
  warmupHoldsNext: (pipeline: string) =>
    `The next campaign of the pipeline ${pipeline} does not start before it succeeds: mend the cause, then start the ` +
    "warm-up again.",
  warmupFailed: "The warm-up failed.",
  warmupFailedOf: (cause: string) => `The warm-up failed: ${cause}`,
  warmupDiskFull: "The warm-up failed: the disk for models is full.",

  unreadableMessage: "The volume stopped with a message that cannot be read.",
  noMessage: "The volume stopped without saying why.",
  notSetUp: "The deployment is not set up for this work",
  manifestUnread: "The volume's manifest cannot be read",
  modelNotReady: "The model was not made ready by the warm-up",
  failedWhile: (doing: string) => `It failed while ${doing}`,
  failed: "It failed",
  noPageGaveResult: "No page of this volume gave a result.",
  pagesMissing: (count: number, names: string) => `${pagesAre(count)} missing${names}`,
  pagesWithoutResult: (count: number, names: string) => `${pagesAre(count)} without a result${names}`,
  andMore: (names: string, count: number) => `${names} and ${count} more`,
  checkFailed: (cause: string) => `It failed while checking results: ${cause}`,

  clusterKeepsTrying: "The cluster keeps trying.",
  containerWaits: (reason: string) => `The container does not start: ${reason}`,

  campaignFailed: "The campaign failed before any volume did.",
  notDone: (failed: number, unfinished: number) => {
    if (unfinished === 0) return `${counted(failed, "volume", "volumes")} failed.`;
    const rest = `${failed === 0 ? counted(unfinished, "volume", "volumes") : formatCount(unfinished)} did not finish.`;
    return failed === 0 ? rest : `${counted(failed, "volume", "volumes")} failed and ${rest}`;
  },
  runAgain: (count: number) => `Run ${count === 1 ? "it" : "them"} in a new campaign when the cause is mended.`,
  campaignIsEnding: "The cluster is ending this campaign.",
  volumesFailed: (count: number) =>
    `${counted(count, "volume", "volumes")} failed. Run ${
      count === 1 ? "it" : "them"
    } in a new campaign when this one ` +
    "has ended.",
  pageLost: (page: string | null, error: string) =>
    `${page === null ? "A page" : `Page ${page}`} could not be read: ${error}`,
  stalled: (span: string | null, doing: string | null) =>
    `No progress${span === null ? "" : ` for ${span}`}${
      doing === null ? "" : ` while ${doing}`
    }: its run log may say why.`,
  ended: (age: string) => `Ended ${age}`,
  endUnknown: "How it ended is not recorded.",
  notFinished: "The campaign ended before this volume was done.",
};

function pagesAre(count: number): string {
  return count === 1 ? "1 page is" : `${count} pages are`;
}

/** What a worker does in a stage. */
export const STAGE_WORDS = {
  setup: "reading the manifest",
  resume: "checking earlier results",
  load: "loading the model",
  stream: "processing pages",
  verify: "checking results",
  publish: "publishing results",
};

/** Why the cluster ended the work on a volume. */
export const VOLUME_ENDS = {
  outOfMemory: "The work on this volume ran out of memory.",
  outOfTime: "The time allowed for the work on this volume ran out.",
  stopped: "The cluster stopped the work on this volume.",
  moved: "The cluster stopped the work on this volume to free resources.",
  machineLost: "The machine under the work on this volume was shut down or lost.",
  noImage: "The container image for the work on this volume could not be fetched.",
  notStarted: "The container for the work on this volume could not be started.",
  brokeOff: (code: string) => `The work on this volume broke off with an error (exit code ${code}).`,
};

/** The same for a warm-up. */
export const WARMUP_ENDS = {
  outOfMemory: "The warm-up ran out of memory.",
  outOfTime: "The time allowed for the warm-up ran out.",
  stopped: "The cluster stopped the warm-up.",
  moved: "The cluster stopped the warm-up to free resources.",
  machineLost: "The machine under the warm-up was shut down or lost.",
  noImage: "The container image for the warm-up could not be fetched.",
  notStarted: "The container for the warm-up could not be started.",
  brokeOff: (code: string) => `The warm-up broke off with an error (exit code ${code}).`,
};

/** Why a campaign ended early, by the reason of its Job's condition (Kubernetes, "Jobs"). */
export const JOB_ENDINGS = {
  DeadlineExceeded: "The time allowed for the whole campaign ran out.",
  MaxFailedIndexesExceeded: "More volumes failed than the campaign allows, so the cluster stopped it.",
  BackoffLimitExceeded: "More attempts failed than the campaign allows, so the cluster stopped it.",
  PodFailurePolicy: "A volume failed in a way that ends the whole campaign by its rules.",
  FailedIndexes: "All volumes were tried, and some failed at every attempt.",
  SuccessPolicy: "The campaign ended as soon as its success policy was met.",
  other: (reason: string) => `The cluster ended the campaign: ${reason}`,
};

/** Why a campaign does no work. */
export const WAITING_WORDS = {
  suspended: "Suspended by hand: resume its Job to go on",
  queue: "Waits for its turn in the queue",
  quota: "Waits until its queue has quota left",
  warmup: "Waits for its warm-up",
  unschedulable: "No machine has room for its pods",
  "no-pods": "The cluster has started no pod for it",
  paused: (count: number) =>
    count === 0 ? "Paused." : `Paused. ${counted(count, "volume is", "volumes are")} not started.`,
  other: (reason: string) => `Waits: ${reason}`,
};

/** The chips of campaigns. */
export const CAMPAIGN_CHIPS = {
  jobRemoved: "job removed",
  jobRemovedTitle: "The cluster has removed the finished job; its record is kept.",
  noWarmup: "no warm-up",
  warmup: { pending: "warm-up pending", running: "warm-up running", failed: "warm-up failed" },
  running: "running",
  succeeded: "succeeded",
  partiallySucceeded: "partially succeeded",
  partiallyFailed: "partially failed",
  failed: "failed",
  unknown: "outcome unknown",
  queued: "queued",
  paused: "paused",
};

/** The chips of volumes. */
export const VOLUME_CHIPS = {
  active: "active",
  stalled: "stalled",
  stalledTitle: "Active, but its progress stands still",
  done: "done",
  doneWithLost: (count: number) => `done, ${counted(count, "page", "pages")} not read`,
  failed: "failed",
  waiting: "waiting",
  unfinished: "did not finish",
  unknown: "unknown",
};

/** The columns of a file of volumes. */
export const CSV_COLUMNS = {
  volume: "volume",
  index: "index",
  state: "state",
  pagesDone: "pages done",
  pages: "pages",
  pagesLost: "pages not read",
  quality: "quality",
  known: "what is known",
  reported: "reported",
  updatedAt: "updated at",
  sourceManifest: "source manifest",
  manifest: "manifest",
  runLog: "run log",
};
