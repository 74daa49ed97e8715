import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** Names that are read out one by one. */
const MAX_NAMED = 3;

/** The sentences of the list of campaigns as a whole. Clocks and figures come formatted. */
export const BOARD_SENTENCES = {
  introduction:
    "Stackroom reads scanned volumes by machine and stores their text beside the images. A campaign is a batch of " +
    "volumes (bound archive records, each a list of page images) that one pipeline, a fixed series of reading steps and " +
    "models, works through.",
  noCluster: "This site shows pages and results only. It follows no cluster, so it has no list of campaigns.",
  notCounted:
    "A running campaign counts once its card has been on screen for some minutes. One that lacks its warm-up does not count.",
  readElsewhere: "Run logs, page texts and volumes open from links to them.",
  /** After the reason why a list cannot be read at the moment. */
  outage: (readAt: string | null, nextAt: string | null) =>
    (readAt === null ? "" : ` The list is from ${readAt}.`) + (nextAt === null ? "" : ` Next try at ${nextAt}.`),
  /** For a list that the server read, though the cluster has not answered it since. */
  skippedCampaigns: (count: number) =>
    `${counted(count, "campaign", "campaigns")} cannot be read and ${count === 1 ? "is" : "are"} left out.`,
  stale: (since: string) => `The cluster has not answered since ${since}, so the list is from then.`,
  /** Read out when campaigns fall into trouble. */
  troubled: (names: readonly string[]) =>
    names.length > MAX_NAMED
      ? `${counted(names.length, "more campaign", "more campaigns")} are in trouble.`
      : `${names.join(", ")} ${names.length === 1 ? "is" : "are"} in trouble.`,
};

/** The labels of the list's head, filter and order. */
export const BOARD_LABELS = {
  introduction: "What this is",
  closeIntroduction: "Close, and do not show again",
  figures: "All campaigns now",
  unknown: "–",
  filter: "Filter and order of the campaigns",
  pipeline: "Pipeline",
  anyPipeline: "All pipelines",
  namespace: "Namespace",
  anyNamespace: "All namespaces",
  order: "Order",
  apply: "Apply",
  showAll: (all: string) => `Show all ${all}`,
  tryNow: "Try now",
  trying: "Trying…",
  shortcuts: "Shortcuts",
  previousPage: "Previous campaigns",
  nextPage: "Next campaigns",
  pages: "More campaigns",
};

export const SEGMENT_WORDS = {
  all: "All",
  trouble: "In trouble",
  running: "Running",
  waiting: "Waiting",
  finished: "Finished",
};

export const SORT_WORDS = {
  state: "By state",
  newest: "Newest first",
  name: "By name",
  end: "By estimated end",
};

/** The base of a figure: how many campaigns are counted. */
export interface CountedCampaigns {
  readonly counted: number;
  readonly of: number;
}

/** Below the figures of all campaigns. */
export const FIGURE_WORDS = {
  troubled: (count: number): string => count === 0 ? "in trouble" : "in trouble, someone must act",
  running: (activeVolumes: number, troubled: number) =>
    `running, ${counted(activeVolumes, "volume", "volumes")} at work${troubled > 0 ? `, ${troubled} in trouble` : ""}`,
  pagesPerMinute: (isKnown: boolean, of: CountedCampaigns) => `pages a minute${asFarAsKnown(isKnown, of)}`,
  end: (isKnown: boolean, of: CountedCampaigns) =>
    `all running ones done${isKnown && of.counted === of.of ? ", estimated" : asFarAsKnown(isKnown, of)}`,
};

function asFarAsKnown(isKnown: boolean, { counted, of }: CountedCampaigns): string {
  if (!isKnown) return ", not known yet";
  return counted === of ? "" : `, ${formatCount(counted)} of ${formatCount(of)} counted`;
}

/** Descriptions of the list's shortcuts. */
export const LIST_KEY_WORDS = {
  filter: "Filter by name or pipeline",
  next: "Next campaign",
  previous: "Previous campaign",
  fold: "Open or fold the campaign",
  help: "These shortcuts",
};

/** The words of a campaign's card. Those around a name or a figure are functions; figures come formatted. */
export const CARD = {
  countedVolumes: (count: number) => counted(count, "volume", "volumes"),
  noPipeline: "pipeline not named",
  pagesIn: (done: string, total: string) => `${done} of ${total} pages`,
  inVolumes: (started: string, all: string) => ` in ${started} of ${all} volumes`,
  volumesStarted: (started: string, all: string) => `${started} of ${all} volumes`,
  started: " started",
  allDone: " done",
  atGate: (waiting: string, all: string) => `, ${waiting} of ${all} volumes wait for the warm-up`,
  noPageRead: "No page read",
  noneStarted: (all: string) => `, 0 of ${all} volumes started`,
  pagesLost: (count: string, isOne: boolean) => `${count} ${isOne ? "page" : "pages"} could not be read`,
  loggedErrors: (count: string, isOne: boolean) => `${count} ${isOne ? "error" : "errors"} logged`,
  loggedErrorsMean:
    "Records of the level ERROR in the run logs. A page that was read at a later attempt is not counted as failed.",
  newestLost: (page: string) => `newest: ${page}`,
  volumesMeter: (done: string, all: string) => `${done} of ${all} volumes done`,
  meterFailed: (count: string) => `, ${count} failed`,
  meterActive: (count: string) => `, ${count} at work`,

  timeLeft: (span: string) => `about ${span} left`,
  littleTimeLeft: "less than a minute left",
  endUnknown: "end not known yet",
  standsStill: "stands still",
  runningFor: (span: string) => `running for ${span}`,
  notStarted: "not started",
  paused: "paused",
  waitingFor: (span: string) => `waiting for ${span}`,
  endedAgo: (age: string) => `ended ${age}`,
  endNotRecorded: "end not recorded",
  createdAgo: (age: string) => `created ${age}`,
  took: (span: string) => `took ${span}`,
  estimatedEnd: "Estimated end",
  startedAt: "Started",
  createdAt: "Created",
  waitingSince: "Waiting since",
  endedAt: "Ended",

  failedAsCsv: "Failed volumes as CSV",
  failedNotRead: (read: string, all: string) =>
    `Only ${read} of ${all} failed volumes could be read, so no file was saved. Try again in a moment.`,
  failedNotNamed: (named: string, all: string) =>
    `The record of this campaign names ${named} of its ${all} failed volumes. The file has these.`,
  rowsAsCsv: "CSV",
  rowsAsCsvOf: (campaign: string) => `Save the volumes shown of ${campaign} as CSV`,
  print: "Print this campaign",
  printOf: (campaign: string) => `Print this campaign, ${campaign}`,
  partOfRows: (read: string, all: string) =>
    `Only ${read} of ${all} volumes could be read; the others are not searched.`,
  readingRows: (read: string, all: string) => `Reading all volumes, ${read} of ${all}…`,

  searchVolumes: "Search volumes",
  searchVolumesOf: (campaign: string) => `Search the volumes of ${campaign}`,
  filterVolumes: "Show volumes",
  noVolumeMatches: "No volume matches.",
  showOthers: (volumes: number) => `Show the other ${counted(volumes, "volume", "volumes")}`,
  state: "State",
  latest: "Latest",
  files: "Files",
  manifestOf: (volume: string) => `Source manifest of ${volume}`,
  noManifestOf: (volume: string) => `${volume} has no source manifest that a browser can open`,
  logOf: (volume: string) => `Run log of ${volume}`,
  noLogYetOf: (volume: string) => `Run log of ${volume}, none before it starts`,
  pagesOf: (done: string, total: string) => `${done} of ${total}`,

  toVolumesOf: (campaign: string) => `Volumes and provenance of ${campaign}`,
  volumesOf: (campaign: string) => `Volumes of ${campaign}`,
  problemsOf: (campaign: string) => `Problems of ${campaign}`,
  provenanceOf: (campaign: string) => `Provenance of ${campaign}`,
  asOf: (time: string) => `as of ${time}`,
  figuresAreOf: (time: string) => `These figures are from ${time}.`,
  moreVolumes: (next: string, all: string) => `Load ${next} more of ${all}`,
  volumeRange: (first: string, last: string, all: string) => `Volumes ${first} to ${last} of ${all}`,
  nextVolumes: "the next ones",
  more: (count: string) => `${count} more`,
  fewer: "fewer",
  volumes: "Volumes",
  pages: "Pages",
  failed: (count: string) => `${count} failed`,
  active: (count: string) => `${count} active`,
  countedIn: (read: string, started: number) =>
    `counted in ${read} of ${counted(started, "started volume", "started volumes")}`,
  pageOf: (page: string, volume: string) => `page ${page} of ${volume}`,
  pipeline: "Pipeline",
  namespace: "Namespace",
  models: "Models:",
  unpinned: "unpinned",
  pipelineYaml: "Pipeline YAML",
  volume: "Volume",
  qualityColumn: "Quality",
  quality: "quality",
  lowestQuality: "lowest",
  loading: "Loading…",
  runLog: "Run log",
  manifest: "Source manifest",
  pagesPerMinute: (count: string) => `${count} pages a minute`,
  endedVolumes: (volumes: number) => `${counted(volumes, "volume", "volumes")} ended`,
  courseOf: (campaign: string) => `Progress of ${campaign} over time`,
  time: "Time",
  volumesDone: "Volumes done",
  volumesFailed: "Volumes failed",
  pagesDone: "Pages done",
  segments: {
    all: "All",
    failed: "Failed",
    active: "Active",
    lost: "Pages not read",
    done: "Done",
    waiting: "Waiting",
    unfinished: "Did not finish",
    unknown: "Unknown",
  },

  noVolumes: "No volumes are known.",
  failedFile: "failed",
  volumesFile: "volumes",
  shownFile: "volumes-shown",
  volumesGone: "The list of this campaign's volumes no longer exists.",
  noMoreVolumes: "There are no more volumes.",
  pipelineGone: "The pipeline's document no longer exists.",
  noPages: "Its pages cannot be opened yet: no manifest names them.",
};

/** The words of problems of campaigns and volumes, of what they wait for, and of their states. */
export const PROBLEMS = {
  unexplained: "The volume failed. No reason was recorded.",
  notTriedAgain: "Not tried again.",
  triedAgain: "It will be tried again.",
  forbidden: "Your account may not read this volume.",

  noWarmupHeld: (pipeline: string) =>
    `There is no warm-up of the pipeline ${pipeline}, and no volume starts before one succeeds. Start one.`,
  noWarmup: (pipeline: string) =>
    `There is no warm-up of the pipeline ${pipeline}, and the next campaign of this pipeline waits for one.`,
  warmupHolds: "No volume starts before it succeeds: fix the cause, then start the warm-up again.",
  warmupHoldsNext: (pipeline: string) =>
    `The next campaign of the pipeline ${pipeline} does not start before it succeeds: fix the cause, then start the ` +
    "warm-up again.",
  warmupFailed: "The warm-up failed.",
  warmupFailedOf: (cause: string) => `The warm-up failed: ${cause}`,
  warmupDiskFull: "The warm-up failed: the disk for models is full.",

  unreadableMessage: "The volume stopped with a message that cannot be read.",
  noMessage: "The volume stopped without saying why.",
  notSetUp: "The deployment is not set up for this work",
  manifestUnread: "The volume's manifest cannot be read",
  modelNotReady: "The warm-up did not prepare the model",
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
  runAgain: (count: number) => `Run ${count === 1 ? "it" : "them"} in a new campaign when the cause is fixed.`,
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

/** A worker's activity by stage. */
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
  machineLost: "The machine that processed this volume was shut down or lost.",
  noImage: "The container image for the work on this volume could not be fetched.",
  notStarted: "The container for the work on this volume could not be started.",
  brokeOff: (code: string) => `The work on this volume ended with an error (exit code ${code}).`,
};

/** The same for a warm-up. */
export const WARMUP_ENDS = {
  outOfMemory: "The warm-up ran out of memory.",
  outOfTime: "The time allowed for the warm-up ran out.",
  stopped: "The cluster stopped the warm-up.",
  moved: "The cluster stopped the warm-up to free resources.",
  machineLost: "The machine that ran the warm-up was shut down or lost.",
  noImage: "The container image for the warm-up could not be fetched.",
  notStarted: "The container for the warm-up could not be started.",
  brokeOff: (code: string) => `The warm-up ended with an error (exit code ${code}).`,
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
  suspended: "Suspended manually: resume its Job to continue",
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
  partiallySucceeded: "partially succeeded",
  phases: {
    Running: "running",
    Succeeded: "succeeded",
    PartiallyFailed: "partially failed",
    Failed: "failed",
    Unknown: "outcome unknown",
    Queued: "queued",
    Paused: "paused",
  },
};

/** The chips of volumes. */
export const VOLUME_CHIPS = {
  active: "active",
  stalled: "stalled",
  stalledTitle: "Active, but without progress",
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

/** Steps of pipelines, by their names in lower case. */
export const PIPELINE_STEPS = {
  segmentation: "Segmentation",
  wordsegmentation: "Word segmentation",
  imageclassification: "Image classification",
  readingorder: "Reading order",
  orderlines: "Order lines",
  textrecognition: "Text recognition",
  qualityprediction: "Quality prediction",
  export: "Export",
};
