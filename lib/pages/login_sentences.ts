import { inLanguage } from "@/lib/pages/locale/language.ts";
import { isKeyOf } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/login.ts";
import * as sv from "@/locales/sv/login.ts";
import { formatAge, formatClock, formatDuration, formatEnd } from "./moments.ts";

export const LOGIN_LABELS = inLanguage({ en: en.LOGIN_LABELS, sv: sv.LOGIN_LABELS });
export const LOGIN_SENTENCES = inLanguage({ en: en.LOGIN_SENTENCES, sv: sv.LOGIN_SENTENCES });
/** Purposes of the sample accounts by login. */
export const SAMPLE_PURPOSES: Readonly<Record<string, string>> = inLanguage({
  en: en.SAMPLE_PURPOSES,
  sv: sv.SAMPLE_PURPOSES,
});
const ACCOUNT_SENTENCES = inLanguage({ en: en.ACCOUNT_SENTENCES, sv: sv.ACCOUNT_SENTENCES });
const LOGIN_ERRORS = inLanguage({ en: en.LOGIN_ERRORS, sv: sv.LOGIN_ERRORS });
const LOGIN_MOMENTS = inLanguage({ en: en.LOGIN_MOMENTS, sv: sv.LOGIN_MOMENTS });

/** Kind of account that a failed login may belong to. */
type AccountKind = "own" | "other tenant" | "no tenant";

/** The kind of account that a user name means, where the campaigns belong to a tenant. */
export function accountKind(username: string, campaignTenant: string): AccountKind {
  const cut = username.indexOf("/");
  if (cut < 0) return "no tenant";
  return username.slice(0, cut).toLowerCase() === campaignTenant.toLowerCase() ? "own" : "other tenant";
}

/**
 * Why a rejected login opens no campaigns, in place of the sentence about a wrong password: the results know the accounts
 * of one tenant only, and reject the correct password of any other account too. Null for an account of that tenant.
 */
export function accountSentence(kind: AccountKind, campaignTenant: string): string | null {
  return kind === "own" ? null : ACCOUNT_SENTENCES[kind](campaignTenant);
}

/**
 * For a failed login, by the code in the address of the login page. An unknown code says only that it failed, so that
 * the address cannot put words into the page.
 */
export function loginErrorSentence(code: string): string {
  return isKeyOf(LOGIN_ERRORS, code) ? LOGIN_ERRORS[code] : LOGIN_ERRORS.other;
}

/** A moment of which the login page speaks; instants in ms since 1970. */
export interface LoginMoment {
  /** `locked`: the next attempt is allowed then; `ended`: the session ended then. */
  readonly kind: "locked" | "ended";
  readonly at: number;
  /** For `ended`: the account of the session, in a browser that may have several. */
  readonly account?: string;
}

/**
 * The sentence about a moment. Without the reader's zone it names a span from `now`, with it a clock time.
 *
 * @param now ms since 1970
 * @param zone IANA name; null where it is not known
 */
export function loginMomentSentence({ kind, at, account }: LoginMoment, now: number, zone: string | null): string {
  if (kind === "ended") {
    const when = zone === null ? formatAge((now - at) / 1000) : LOGIN_MOMENTS.at(endText(at, now, zone));
    return account === undefined ? LOGIN_MOMENTS.ended(when) : LOGIN_MOMENTS.endedOf(account, when);
  }
  if (at <= now) return LOGIN_MOMENTS.unlocked;
  return zone === null ? LOGIN_MOMENTS.lockedFor(waitText(at, now)) : LOGIN_MOMENTS.lockedUntil(formatClock(at, zone));
}

/** The clock alone where the day is today. */
function endText(at: number, now: number, zone: string): string {
  const [end, today] = [at, now].map((ms) => new Date(ms).toISOString());
  return formatEnd(end, today, { zone, now });
}

function waitText(at: number, now: number): string {
  const seconds = Math.ceil((at - now) / 1000);
  return seconds < 60 ? LOGIN_MOMENTS.seconds(seconds) : formatDuration(seconds);
}

const CLOSED = inLanguage({ en: en.CLOSED, sv: sv.CLOSED });

/** A side of the site that a login did not open. */
interface UnavailableArea {
  readonly side: "campaigns" | "storage";
  /**
   * The status with which it refused the login; `tenant`: the tenant of the name is not known; `no session`: that
   * of this login has ended, or there was none.
   */
  readonly reason: number | "tenant" | "no session";
}

/**
 * Which side of the site a login did not open, and why.
 *
 * @param account the name of the login; null: not known
 * @param campaignTenant the tenant whose accounts open the campaigns; null where it is not known or there are no tenants
 */
export function unavailableAreaSentence(
  { side, reason }: UnavailableArea,
  account: string | null,
  campaignTenant: string | null,
): string {
  const isOfTenant = campaignTenant === null || (account !== null && accountKind(account, campaignTenant) === "own");
  if (side === "campaigns" && (reason === 401 || reason === "no session") && !isOfTenant) {
    return CLOSED.otherTenant(campaignTenant);
  }
  const sentences: Readonly<Record<string, string>> = CLOSED[side];
  return sentences[reason === 422 ? 413 : reason] ?? CLOSED[side].other;
}
