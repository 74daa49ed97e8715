/** Names of files, capitalized for the start of a sentence. */
export const FILE_NAMES = {
  manifest: "The manifest",
  pageText: "The text of this page",
  page: "The page",
  log: "The log",
  runSummary: "The run's summary",
};

/** Why a file cannot be read, and what to do. */
export const ANY_FILE = {
  404: noFile,
  410: noFile,
  429: (file: string) => `${file} cannot be read: its server gets too many requests. Try again in a minute.`,
  slow: (file: string) => `${file} did not arrive in time. Try again in a moment.`,
  "too large": (file: string) => `${file} is too large to be shown. Open the file itself.`,
  blocked: (file: string) =>
    `${file} cannot be read: the browser blocks its address, which begins with http:, on a secure page, and https does ` +
    "not work there. Open the file itself, or ask its publisher for an https address.",
};

/** The same for files of this site's results. */
export const OUR_FILE = {
  401: (file: string) => `${file} cannot be read: you are not logged in. Log in, and you come back to this page.`,
  403: (file: string) =>
    `${file} cannot be read: your account may not read it. Ask for access, or log in with another account.`,
  502: resultsOutage,
  503: resultsOutage,
  504: resultsOutage,
  unreachable: (file: string) => `${file} cannot be reached: the server does not answer. Try again in a moment.`,
};

/** The same for files of other sites. */
export const OTHER_FILE = {
  401: (file: string) =>
    `${file} cannot be read: its server requires a login of its own. Log in there, then open this page again.`,
  403: (file: string) => `${file} cannot be read: its server does not allow it. Ask its publisher for access.`,
  unreachable: (file: string) =>
    `${file} cannot be reached. Either its server does not answer, or it does not let other sites read the file ` +
    "(it sends no CORS headers). Try again, or open the file itself.",
};

/** Fallback for any other status. */
export const OTHER_STATUS = {
  ofServer: (file: string, status: number) =>
    `${file} cannot be read: its server failed with status ${status}. Try again later.`,
  ofRequest: (file: string, status: number) =>
    `${file} cannot be read: its server returned status ${status}. Check the address.`,
};

function noFile(file: string): string {
  return `${file} cannot be read: there is no file at its address. It may not be published yet: check the address, or ` +
    "try again later.";
}

function resultsOutage(file: string): string {
  return `${file} cannot be read: the results store does not answer. Try again in a moment.`;
}
