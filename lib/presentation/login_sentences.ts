import { formatAge, formatDuration } from "./durations.ts";
import { counted } from "@/lib/presentation/locale/figures.ts";
import { formatClock, formatEnd } from "./moments.ts";

/** The words of the login page. */
export const LOGIN_LABELS = {
  title: "Log in",
  pitch: "Your scans, read by machine, in your own storage.",
  about: "Stackroom reads scanned collections in batches, shows how far each volume has come, and puts the text " +
    "beside the page.",
  userName: "User name",
  password: "Password",
  logIn: "Log in",
  goOn: "Go on",
  apiPage: "API page",
  samples: "No account? Try a sample login",
  samplePassword: "Their password:",
  sampleName: "User name",
  samplePurpose: "Opens",
  lookAround: (name: string) => `Look around as ${name}`,
} as const;

/** The sentences of the login page. */
export const LOGIN_SENTENCES = {
  loggedOut: "You are logged out.",
  endedEarly: "Your session has ended: it was logged out, or the account was changed. Log in again.",
  loggedInAs: (user: string) => `You are logged in as ${user}.`,
  leadsBack: "The login leads back to where you were.",
} as const;

/** What kind of account a failed login may have meant. */
type AccountKind = "own" | "other tenant" | "no tenant";

/** The kind of account that a user name means, where the campaigns belong to a tenant. */
export function accountKind(username: string, campaignTenant: string): AccountKind {
  const cut = username.indexOf("/");
  if (cut < 0) return "no tenant";
  return username.slice(0, cut).toLowerCase() === campaignTenant.toLowerCase() ? "own" : "other tenant";
}

/**
 * Why a rejected login opens no campaigns, in place of the sentence about a wrong password: the results know the accounts
 * of one tenant alone, and reject the right password of any other account too. A name without a tenant may mean one of
 * theirs. Null where the name is certainly one of theirs.
 */
export function accountSentence(kind: AccountKind, campaignTenant: string): string | null {
  switch (kind) {
    case "own":
      return null;
    case "other tenant":
      return `This login opens no campaigns: they open with accounts of the tenant ${campaignTenant} only. An account of ` +
        "another tenant opens its own storage through the API.";
    case "no tenant":
      return `No account of the tenant ${campaignTenant} has this name and password, and only its accounts open the ` +
        "campaigns. An account of the system level manages the tenants of the store through the API.";
  }
}

/**
 * For a failed login, by the code in the address of the login page. An unknown code says only that it failed, so that
 * the address cannot put words into the page.
 */
export function loginErrorSentence(code: string): string {
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
  ["429", "No login is possible at the moment. Wait a little, five minutes at most, then try again."],
  ["502", LOGIN_UNREACHABLE],
  ["503", "The login is not available at the moment. Try again later."],
  ["504", LOGIN_UNREACHABLE],
]);

/** A moment of which the login page speaks; instants in ms since 1970. */
export interface LoginMoment {
  /** `locked`: the next attempt is allowed then; `ended`: the session ended then. */
  readonly kind: "locked" | "ended";
  readonly at: number;
}

/**
 * The sentence about a moment. Without the reader's zone it names a span from `now`, with it a clock time.
 *
 * @param now ms since 1970
 * @param zone IANA name; null where it is not known
 */
export function loginMomentSentence({ kind, at }: LoginMoment, now: number, zone: string | null): string {
  if (kind === "ended") {
    return `Your session ended ${zone === null ? agoText(at, now) : endText(at, now, zone)}. Log in again.`;
  }
  if (at <= now) return "There were too many attempts. You can try again now.";
  return `Too many attempts. Try again ${zone === null ? waitText(at, now) : `at ${formatClock(at, zone)}`}.`;
}

function agoText(at: number, now: number): string {
  return formatAge((now - at) / 1000);
}

/** The clock alone where the day is today. */
function endText(at: number, now: number, zone: string): string {
  const [end, today] = [at, now].map((ms) => new Date(ms).toISOString());
  return `at ${formatEnd(end, today, { zone, now })}`;
}

function waitText(at: number, now: number): string {
  const seconds = Math.ceil((at - now) / 1000);
  return seconds < 60 ? `in ${counted(seconds, "second", "seconds")}` : `in ${formatDuration(seconds)}`;
}
