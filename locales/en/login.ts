import { counted } from "@/lib/pages/locale/figures.ts";

const MALFORMED = "The name or the password is missing or too long.";
const UNREACHABLE = "The results store does not answer, so the login cannot be checked. Try again in a moment.";

/** The words of the login page. */
export const LOGIN_LABELS = {
  title: "Log in",
  pitch: "Your scans, read by machine, in your own storage.",
  about: "Stackroom reads scanned collections in batches, shows how far each volume has come, and puts the text " +
    "beside the page.",
  userName: "User name",
  password: "Password",
  logIn: "Log in",
  goOn: "Continue",
  apiPage: "API page",
  samples: "No account? Try a sample login",
  samplePassword: "Their password:",
  sampleName: "User name",
  samplePurpose: "Opens",
  lookAround: (name: string) => `Look around as ${name}`,
};

/** The sentences of the login page. */
export const LOGIN_SENTENCES = {
  loggedOut: "You are logged out.",
  endedEarly: "Your session has ended: it was logged out, or the account was changed. Log in again.",
  loggedInAs: (user: string) => `You are logged in as ${user}.`,
  leadsBack: "After the login you return to the page where you were.",
};

/** Purposes of the embedded store's sample accounts by login. */
export const SAMPLE_PURPOSES = {
  "archive/reader": "campaigns: pages, texts, logs",
  "archive/curator": "campaigns, and the storage of archive",
  "research/researcher": "the storage of research, no campaigns",
  "admin": "the tenants of the store (API), no campaigns",
};

/** Why an account opens no campaigns. */
export const ACCOUNT_SENTENCES = {
  "other tenant": (tenant: string) =>
    `The name or the password is wrong, or the account opens no campaigns: they open with accounts of the tenant ${tenant} only.`,
  "no tenant": (tenant: string) =>
    `No account of the tenant ${tenant} has this name and password, and only its accounts open the campaigns. An account ` +
    "of the system level manages the tenants of the store through the API.",
};

/** Why a login failed, by the status of its response; `logout`: the results role did not end a session. */
export const LOGIN_ERRORS = {
  401: "The name or the password is wrong.",
  403:
    "This page was not opened under the site's own address, so the login was refused. Open the site by its usual address.",
  413: MALFORMED,
  422: MALFORMED,
  429: "Logging in is not possible at the moment. Wait up to five minutes, then try again.",
  502: UNREACHABLE,
  503: "The login is not available at the moment. Try again later.",
  504: UNREACHABLE,
  logout:
    "You are logged out in this browser, but the server could not end the campaign session. A copied cookie stays valid " +
    "until it expires.",
  other: "The login did not work. Try again in a moment.",
};

/** Spans come formatted; a clock time comes with its day where that is another one. */
export const LOGIN_MOMENTS = {
  at: (time: string) => `at ${time}`,
  ended: (when: string) => `Your session ended ${when}. Log in again.`,
  endedOf: (account: string, when: string) => `Your session for ${account} ended ${when}.`,
  unlocked: "There were too many attempts. You can try again now.",
  lockedFor: (span: string) => `Too many attempts. Try again in ${span}.`,
  lockedUntil: (time: string) => `Too many attempts. Try again at ${time}.`,
  seconds: (count: number) => counted(count, "second", "seconds"),
};

/** Which side of the site a login did not open, and why. */
export const CLOSED = {
  otherTenant: (tenant: string) =>
    `This login opens the storage only: the campaigns open with accounts of the tenant ${tenant}.`,
  campaigns: {
    401: "This login opens the storage only: the campaigns do not accept this name and password.",
    413: "This login opens the storage only: the name or the password is too long for the campaigns.",
    429: "This login opens the storage only: the campaigns had too many wrong logins. Log in again in a few minutes.",
    503: "This login opens the storage only: the campaigns take no logins at the moment. Log in again shortly.",
    other: "This login opens the storage only: the campaigns could not check it. Log in again later.",
    "no session": "This login opens the storage only: its session of the campaigns has ended, or there was none.",
  },
  storage: {
    401: "Your last login opens the campaigns only: the storage does not accept this name and password.",
    413: "Your last login opens the campaigns only: the storage can have no such account, or its password is too long.",
    429:
      "Your last login opens the campaigns only: the storage had too many wrong logins. Log in again in a few minutes.",
    503: "Your last login opens the campaigns only: the storage takes no logins at the moment. Log in again shortly.",
    other: "Your last login opens the campaigns only: the storage could not check it. Log in again later.",
    tenant: "Your last login opens the campaigns only: the name says no tenant. For the storage log in as tenant/name.",
  },
};
