import { counted } from "./figures.ts";
import type { RefusedUrl } from "./result_url_guard.ts";

/** The sentences of pages and islands. Those about a campaign's problems are in problem_sentences.ts. */
export const SENTENCES = {
  noMatch: "No campaign matches the filter.",
  noCampaigns: "There are no campaigns yet. They appear here when the first one is started.",
  noList: "This server has no list of campaigns.",
  campaignGone: "This campaign has been removed.",
  orderOfLastVisit: "The order is that of your last visit to this tab",
  serverUnreachable: "The server cannot be reached.",
  unreadable: "The server answered with something that cannot be read.",
  apiNeedsScripts: "This page needs scripts. The description of the API that it shows does not:",
  noPage: "There is no page at this address.",
  resultsOutage: "The results store does not answer, so your login cannot be checked.",
} as const;

/** The words of headings, controls and figures. Those around a name or a figure are functions; figures come formatted. */
export const LABELS = {
  toContent: "Skip to the content",
  mainNavigation: "Main",
  campaigns: "Campaigns",
  toCampaigns: "Back to the campaigns",
  api: "API",
  notFound: "Not found",
  logIn: "Log in",
  logOut: "Log out",
  toSeeCampaigns: "to see the campaigns.",
  theme: (theme: string) => `Theme: ${theme}`,
  changeTheme: (theme: string, next: string) => `Theme: ${theme}. Change to ${next}`,
  loading: "Loading…",
  wayBack: "Way back",

  filterByText: "Filter by name or pipeline",
  filterByState: "Filter by state",
  shownOf: (shown: string, all: string) => `${shown} shown of ${all}`,
  updated: "updated",
  timesAreUtc: "UTC, like all times here",
  sortAgain: "Sort again",
  olderCampaigns: (next: string, all: string) => `Show ${next} older campaigns of ${all}`,
} as const;

/** For campaigns that are not in the list yet, below a filter that no campaign of the list matches. */
export function olderUnsearchedSentence(count: number): string {
  return `${counted(count, "older campaign")} ${count === 1 ? "is" : "are"} not searched.`;
}

/** For campaigns of the list that the browser cannot read. */
export function skippedCampaignsSentence(count: number): string {
  return `${counted(count, "campaign")} cannot be read and ${count === 1 ? "is" : "are"} left out.`;
}

/** For a campaign that the address of the list names, but that does not exist. */
export function noCampaignSentence(namespace: string, name: string): string {
  return `There is no campaign named ${namespace}/${name}.`;
}

/**
 * For a response of the read API other than a good one.
 *
 * @param body the JSON of the response
 */
export function unreachableSentence(status: number, body: unknown): string {
  if (detailOf(body) === RESULTS_OUTAGE) return SENTENCES.resultsOutage;
  switch (status) {
    case 502:
      return "The cluster that runs the campaigns does not answer.";
    case 503:
      return "This site serves no campaigns.";
    case 504:
      return "The cluster that runs the campaigns does not answer in time.";
    default:
      return `The campaigns cannot be read at the moment (the server answered ${status}).`;
  }
}

/** The detail that distinguishes an outage of the results store from one of the cluster. */
const RESULTS_OUTAGE = "the results service did not answer";

function detailOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "detail" in body ? body.detail : undefined;
}

/** For an address in a query that is not opened. */
export function refusedUrlSentence(refused: RefusedUrl, parameter: string): string {
  return `The address given as “${parameter}” ${REFUSED_URLS[refused]}`;
}

const REFUSED_URLS: Readonly<Record<RefusedUrl, string>> = {
  "not a URL": "is no web address.",
  "outside the results": "is not one of this site's results, so it is not opened.",
  "escaped separator": "hides a slash or a backslash in its path, so it is not opened.",
};
