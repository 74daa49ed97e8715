import { counted, formatCount } from "@/lib/presentation/locale/figures.ts";

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

/** Of how many campaigns a figure is. */
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

/** What the keys of the list do. */
export const LIST_KEY_WORDS = {
  filter: "Filter by name or pipeline",
  next: "Next campaign",
  previous: "Previous campaign",
  fold: "Open or fold the campaign",
  help: "These shortcuts",
};
