/** What an answer of the read API other than a good one means to the reader. `body` is the answer's JSON. */
export function unreachableSentence(status: number, body: unknown): string {
  if (detailOf(body) === RESULTS_OUTAGE) return resultsOutageSentence();
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

/** In place of the list when nobody can say who is logged in. */
export function resultsOutageSentence(): string {
  return "The results store does not answer, so your login cannot be checked.";
}

/** The detail that tells an outage of the results store from one of the cluster. */
const RESULTS_OUTAGE = "the results service did not answer";

function detailOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "detail" in body ? body.detail : undefined;
}
