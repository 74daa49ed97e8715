import type { RefusedUrl } from "./result_url_guard.ts";

/** The sentences of pages and islands. Those about a campaign's problems are in problem_sentences.ts. */
export const SENTENCES = {
  noMatch: "No campaign matches the filter.",
  noCampaigns: "There are no campaigns yet. They appear here when the first one is started.",
  noList: "This server has no list of campaigns.",
  campaignGone: "This campaign has been removed.",
  noVolumes: "No volumes are known.",
  noMoreVolumes: "There are no volumes from here on.",
  orderOfLastVisit: "The order is that of your last visit to this tab.",
  pipelineGone: "The pipeline's document is gone.",
  noVolumeManifest: "Its pages cannot be opened yet: no manifest names them.",
  noLogNamed: "No log is named: open one from its volume in the list of campaigns.",
  readingLog: "Reading the log…",
  logRetried: "It is tried again in a moment.",
  logShortened: "The beginning of this log is left out.",
  readingRunManifest: "Reading what the run says of its pages…",
  runManifestLater: "The summary of the pages appears here when the run has ended.",
  noRunManifest: "This run has written no manifest, so there is no summary of its pages.",
  runWithoutPages: "The run's manifest names no pages.",
  pageGrid: "Higher bars took longer; the colour is the predicted quality.",
  logNeedsScripts: "The viewer needs scripts; the raw text does not.",
  serverUnreachable: "The server cannot be reached.",
  unreadable: "The server answered with something that cannot be read.",
  noPage: "There is no page at this address.",
  resultsOutage: "The results store does not answer, so your login cannot be checked.",
  login: "Log in with your account on the results store.",
} as const;

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

/**
 * For a failed login, by the code in the address of the login page; null without a code. An unknown code says only that
 * it failed, so that the address cannot put words into the page.
 */
export function loginErrorSentence(code: string | null): string | null {
  if (code === null) return null;
  return LOGIN_ERRORS.get(code) ?? "The login did not work. Try again in a moment.";
}

const MALFORMED_LOGIN = "The name or the password is missing or too long.";
const LOGIN_UNREACHABLE = "The results store does not answer, so the login cannot be checked. Try again in a moment.";

const LOGIN_ERRORS: ReadonlyMap<string, string> = new Map([
  ["401", "The name or the password is wrong."],
  [
    "403",
    "This page was not opened under the site's own address, so the login was refused. Open the site by its usual address.",
  ],
  ["413", MALFORMED_LOGIN],
  ["422", MALFORMED_LOGIN],
  ["429", "Too many attempts. Wait up to five minutes, then try again."],
  ["502", LOGIN_UNREACHABLE],
  ["503", "The login is not available at the moment. Try again later."],
  ["504", LOGIN_UNREACHABLE],
]);

/** For an address in a query that is not opened. */
export function refusedUrlSentence(refused: RefusedUrl, parameter: string): string {
  return `The address given as “${parameter}” ${REFUSED_URLS[refused]}`;
}

const REFUSED_URLS: Readonly<Record<RefusedUrl, string>> = {
  "not a URL": "is no web address.",
  "outside the results": "is not one of this site's results, so it is not opened.",
  "escaped separator": "hides a slash or a backslash in its path, so it is not opened.",
};
