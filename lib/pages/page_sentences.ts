import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/page.ts";
import * as sv from "@/locales/sv/page.ts";
import type { RefusedUrl } from "./result_url_guard.ts";

export const SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
export const LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
const REFUSED_URLS = inLanguage({ en: en.REFUSED_URLS, sv: sv.REFUSED_URLS });

/**
 * For a response of the read API other than a good one.
 *
 * @param body the JSON of the response
 */
export function unreachableSentence(status: number, body: unknown): string {
  if (body instanceof Object && "code" in body && body.code === "results_unavailable") return SENTENCES.resultsOutage;
  const { clusterOutage, noCluster, clusterTimeout, otherOutage } = SENTENCES;
  return new Map([[502, clusterOutage], [503, noCluster], [504, clusterTimeout]]).get(status) ?? otherOutage(status);
}

/** For an address in a query that is not opened. */
export function refusedUrlSentence(refused: RefusedUrl, parameter: string): string {
  return REFUSED_URLS[refused](parameter);
}

/** A page's title: trouble first, since a tab shows only the first words. */
export function pageTitle(title: string, troubled: number): string {
  return `${troubled > 0 ? `${LABELS.inTrouble(troubled)} · ` : ""}${title} · Stackroom`;
}

/** The site's icon as a data URL, with the count of campaigns in trouble where there are any. */
export function favicon(troubled: number): string {
  const badge = troubled > 0 ? badgeOf(troubled > MAX_SHOWN ? `${MAX_SHOWN}+` : String(troubled)) : "";
  return `data:image/svg+xml,${encodeURIComponent(`${OPEN}${SHELVES}${badge}</svg>`)}`;
}

const MAX_SHOWN = 9;
const OPEN = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">`;
const SHELVES = `<rect width="32" height="32" rx="7" fill="#0b6b66"/><g fill="#fff">` +
  `<rect x="7" y="7" width="4" height="13"/><rect x="13" y="9" width="4" height="11"/>` +
  `<rect x="19" y="6" width="4" height="14"/><rect x="5" y="22" width="22" height="3"/></g>`;

function badgeOf(text: string): string {
  return `<circle cx="22" cy="22" r="10" fill="#a3221a"/><text x="22" y="26.5" fill="#fff" font-size="13" ` +
    `font-family="sans-serif" font-weight="700" text-anchor="middle">${text}</text>`;
}
