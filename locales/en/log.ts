import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** The sentences of the page of a run log. */
export const LOG_SENTENCES = {
  waiting: "The log appears here when the worker has uploaded its first lines, about 15 seconds after it has started.",
  logTooLarge: "The log is too large to be shown here. Open its raw text.",
  noLog: "There is no log at this address: no worker has uploaded one.",
  stopped: "The log could not be read 20 times in a row, so it is no longer followed.",
  quiet:
    "No line was added for 15 minutes and the log has no ending, so it is no longer followed. A worker that the cluster stops, such as at a deadline, writes no ending; its campaign names the reason.",
  lineGone: "The line that the address names is not in this log.",
  lineLater: "The line that the address names is not in this log yet.",
  noLines: "No line of this log is of this level.",
  emptyLog: "The log is empty.",
  linkCopied: (number: string) => `Link to line ${number} copied`,
  linkNotCopied: "The browser did not allow copying; the address of this page names the line now.",
  lineShortened: (count: string) => ` … ${count} more characters, in the raw text`,
  linesOf: (first: string, last: string) => `Lines ${first} to ${last}`,
  noLogNamed: "No log is named: open one from its volume in the list of campaigns.",
  readingLog: "Reading the log…",
  logRetried: "It is tried again every 15 seconds.",
  logShortened: "The beginning of this log is left out.",
  readingRunManifest: "Reading the summary of the run…",
  runManifestLater: "The summary of the pages appears here when the run has ended.",
  noRunManifest: "This run has written no manifest, so there is no summary of its pages.",
  runWithoutPages: "The run's manifest names no pages.",
  moreLostPages: "The others are in the table, first when it is ordered by quality.",
  pageGrid: "Higher bars took longer; the colour is the predicted quality.",
  logNeedsScripts: "The viewer needs scripts; the raw text does not.",
};

/** The words of its headings, controls and figures. Figures come formatted. */
export const LOG_LABELS = {
  viewPages: "View pages",
  search: "Search in the log",
  previousHit: "Previous hit",
  nextHit: "Next hit",
  hits: (count: number) => counted(count, "line", "lines"),
  hitOf: (place: string, count: string) => `${place} of ${count}`,
  noHits: "no line",
  level: "Level",
  levels: { all: "All", debug: "Debug", info: "Info", warning: "Warnings", error: "Errors" },
  sinceStart: "Times since the start",
  clockOfLog: "Times by the log's own clock",
  clockSinceStart: "Times since the start of the log",
  unfoldAll: "Unfold all",
  foldAll: "Fold all",
  followAgain: "Follow again",
  pages: "pages",
  tookSoFar: "since its start",
  toReadLogs: "to read run logs.",
  quality: "quality",
  lowestQuality: "lowest",
  state: "State",
  runLog: "Run log",
  runLogOf: (volume: string) => `${volume} · Run log`,
  line: (number: number) => `Line ${number}`,
  followEnd: "Follow the end",
  rawText: "Raw text",
  showWholeLog: "Show the whole log",
  runTotals: "Totals of this run",
  took: "took",
  pagesRead: "pages read",
  readEarlierBy: (count: string) => `${count} of them by an earlier run`,
  of: (all: string) => `of ${all}`,
  pagesLost: "pages not read",
  medianSeconds: "seconds a page, median",
  p95Seconds: "95 % of pages within",
  pageSummary: "Summary of the pages",
  toLog: "To the log",
  lostPages: (count: string) => `Pages that could not be read: ${count}`,
  slowestPages: "Slowest pages",
  allPages: (count: string) => `All ${count} pages`,
  pagesAsTable: "Pages as a table",
  showOthers: (count: string) => `Show the other ${count}`,
  files: "Files",
  pageLost: "not read",
  pageRead: "read",
  pageReadEarlier: "read earlier",
  text: "text",
  textOf: (page: string) => `text of page ${page}`,
  image: "image",
  imageOf: (page: string) => `source image of page ${page}`,
};

/** The headings of stages. */
export const STAGE_TITLES = {
  config: "Settings",
  warmup: "Waiting for the warm-up",
  setup: "Reading the manifest",
  resume: "Checking earlier results",
  load: "Loading the model",
  stream: "Processing pages",
  verify: "Checking results",
  publish: "Publishing results",
};

/** The words of figures of a log; durations come formatted. */
export const LOG_FIGURES = {
  lines: (count: number) => counted(count, "line", "lines"),
  warnings: (count: number) => counted(count, "warning", "warnings"),
  errors: (count: number) => counted(count, "error", "errors"),
  requests: (count: number) => counted(count, "request", "requests"),
  hits: (count: number) => counted(count, "hit", "hits"),
  allAnswered: (status: number) => `, all answered ${status}`,
  answered: (count: number, status: number | null) =>
    `${formatCount(count)} ${status === null ? "without a status" : `answered ${status}`}`,
  medianApart: (seconds: string) => `, median ${seconds} apart`,
};

/** How a run stands. */
export const OUTCOMES = {
  finished: "finished",
  failed: "failed",
  stopped: "no longer followed",
  waiting: "waiting for its first lines",
  attemptFailed: "attempt failed",
  anotherFollows: "attempt failed, another one follows",
  live: "live",
  noEnding: "no ending in the log",
};

/** The result of reading the run's manifest. */
export const RUN_WORDS = {
  unreadable: "The run's summary cannot be shown: its manifest is not valid.",
  page: (name: string, facts: string) => facts === "" ? `Page ${name}` : `Page ${name}: ${facts}`,
  lost: "not read",
  readEarlier: "read by an earlier run",
  quality: (quality: string) => `quality ${quality}`,
};

/** Legend of the page grid. */
export const QUALITY_STEP_WORDS = {
  high: "quality 0.90 and above",
  medium: "0.70 to 0.89",
  low: "below 0.70",
  unscored: "no quality predicted",
  lost: "not read",
};

export const PAGE_ORDER_WORDS = {
  page: "Page",
  seconds: "Seconds",
  quality: "Quality",
};
