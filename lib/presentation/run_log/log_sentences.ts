/** The sentences of the page of a run log. */
export const LOG_SENTENCES = {
  waiting: "The log appears here when the worker has uploaded its first lines, about 15 seconds after it has started.",
  noLog: "There is no log at this address: no worker has uploaded one.",
  stopped: "The log could not be read 20 times in a row, so it is no longer followed.",
  lineGone: "The line that the address names is not in this log.",
  lineLater: "The line that the address names is not in this log yet.",
  noLines: "No line of this log is of this level.",
  emptyLog: "The log is empty.",
  linkCopied: (number: string) => `Link to line ${number} copied`,
  linkNotCopied: "The browser did not allow copying; the address of this page names the line now.",
  lineShortened: (count: string) => ` … ${count} more characters, in the raw text`,
  linesOf: (first: string, last: string) => `Lines ${first} to ${last}`,
} as const;

/** The words of its headings, controls and figures. Figures come formatted. */
export const LOG_LABELS = {
  wayBack: "Way back",
  viewPages: "View pages",
  search: "Search in the log",
  previousHit: "Previous hit",
  nextHit: "Next hit",
  hits: (count: string) => `${count} lines`,
  oneHit: "1 line",
  hitOf: (place: string, count: string) => `${place} of ${count}`,
  noHits: "no line",
  level: "Level",
  levels: { all: "All", debug: "Debug", info: "Info", warning: "Warnings", error: "Errors" },
  sinceStart: "Since start",
  sinceStartTitle: "Times are those since the start of the log",
  unfoldAll: "Unfold all",
  foldAll: "Fold all",
  followAgain: "Follow again",
  pages: "pages",
  tookSoFar: "since its start",
} as const;
