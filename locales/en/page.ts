import { counted } from "@/lib/pages/locale/figures.ts";

/** The sentences of pages and islands. Those about a campaign's problems are in campaigns.ts. */
export const SENTENCES = {
  noMatch: "No campaign matches the filter.",
  noCampaigns: "There are no campaigns yet. They appear here when the first one is started.",
  noList: "This server has no list of campaigns.",
  campaignGone: "This campaign has been removed.",
  orderOfLastVisit: "The order is that of your last visit to this tab",
  serverUnreachable: "No connection to the server.",
  unreadable: "The server sent a response that cannot be read. Reload the page.",
  apiNeedsScripts: "This page needs scripts. The description of the API that it shows does not:",
  noPage: "There is no page at this address.",
  resultsOutage: "The results store does not answer, so your login cannot be checked.",
  clusterOutage: "The cluster that runs the campaigns does not answer.",
  noCluster: "This site serves no campaigns.",
  clusterTimeout: "The cluster that runs the campaigns does not answer in time.",
  otherOutage: (status: number) => `The campaigns cannot be read at the moment (the server answered ${status}).`,
  /** For campaigns that are not in the list yet, below a filter that no campaign of the list matches. */
  olderUnsearched: (count: number) =>
    `${counted(count, "older campaign", "older campaigns")} ${count === 1 ? "is" : "are"} not searched.`,
  /** For a campaign that the address of the list names, but that does not exist. */
  noCampaign: (namespace: string, name: string) => `There is no campaign named ${namespace}/${name}.`,
};

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
  loading: "Loading…",
  breadcrumb: "Breadcrumb",
  runLog: "Run log",

  filterByText: "Filter by name or pipeline",
  filterByState: "Filter by state",
  shownOf: (shown: string, all: string) => `${shown} shown of ${all}`,
  updated: "updated",
  timesAreUtc: "UTC, like all times here",
  sortAgain: "Sort again",
  olderCampaigns: (next: string, all: string) => `Show ${next} older campaigns of ${all}`,

  inTrouble: (count: number) => `${count} in trouble`,
};

/** For an address in a query that is not opened. */
export const REFUSED_URLS = {
  "not a URL": (parameter: string) => `The address given as “${parameter}” is no web address.`,
  "outside the results": (parameter: string) =>
    `The address given as “${parameter}” is not one of this site's results, so it is not opened.`,
  "escaped separator": (parameter: string) =>
    `The address given as “${parameter}” has an escaped slash or backslash in its path, so it is not opened.`,
};
