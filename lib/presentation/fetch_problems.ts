/** Why a file could not be read: a status of HTTP, or what happened before there was a whole response. */
export type FetchProblem = number | "unreachable" | "slow" | "too large";

/** A file as sentences name it. */
interface NamedFile {
  /** Begins a sentence: `The manifest`. */
  readonly name: string;
  /** Whether it is one of this site's results, so that the site's login counts. */
  readonly isOurs: boolean;
  /** Whole sentences in place of the usual ones. */
  readonly own?: Readonly<Partial<Record<FetchProblem, string>>>;
}

/** Says why a file could not be read, and what to do. */
export function fetchProblemSentence(problem: FetchProblem, { name, isOurs, own = {} }: NamedFile): string {
  const usual = (isOurs ? OURS : OTHERS)[problem] ?? ANY[problem] ?? otherStatus(Number(problem));
  return own[problem] ?? `${name} ${usual}`;
}

type Endings = Readonly<Partial<Record<FetchProblem, string>>>;

const NO_FILE =
  "cannot be read: there is no file at its address. It may not be published yet: check the address, or try again later.";

const ANY: Endings = {
  404: NO_FILE,
  410: NO_FILE,
  429: "cannot be read: its server gets too many requests. Try again in a minute.",
  slow: "did not arrive in time. Try again in a moment.",
  "too large": "is too large to be shown. Open the file itself.",
};

const STORE_SILENT = "cannot be read: the results store does not answer. Try again in a moment.";

/** For files of this site's results. */
const OURS: Endings = {
  401: "cannot be read: you are not logged in. Log in, and you come back to this page.",
  403: "cannot be read: your account may not read it. Ask for access, or log in with another account.",
  502: STORE_SILENT,
  503: STORE_SILENT,
  504: STORE_SILENT,
  unreachable: "cannot be reached: the server does not answer. Try again in a moment.",
};

const OTHERS: Endings = {
  401: "cannot be read: its server requires a login of its own. Log in there, then open this page again.",
  403: "cannot be read: its server does not allow it. Ask its publisher for access.",
  unreachable: "cannot be reached. Either its server does not answer, or it does not let other sites read the file " +
    "(it sends no CORS headers). Try again, or open the file itself.",
};

function otherStatus(status: number): string {
  return status >= 500
    ? `cannot be read: its server failed with status ${status}. Try again later.`
    : `cannot be read: its server returned status ${status}. Check the address.`;
}
