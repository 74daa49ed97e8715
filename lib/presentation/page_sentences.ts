import { inLanguage } from "@/lib/presentation/locale/language.ts";
import type { RefusedUrl } from "./result_url_guard.ts";
import * as en from "@/locales/en/page.ts";
import * as sv from "@/locales/sv/page.ts";

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
  switch (status) {
    case 502:
      return SENTENCES.clusterOutage;
    case 503:
      return SENTENCES.noCluster;
    case 504:
      return SENTENCES.clusterTimeout;
    default:
      return SENTENCES.otherOutage(status);
  }
}

/** For an address in a query that is not opened. */
export function refusedUrlSentence(refused: RefusedUrl, parameter: string): string {
  return REFUSED_URLS[refused](parameter);
}
