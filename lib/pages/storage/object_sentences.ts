import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage_object.ts";
import * as sv from "@/locales/sv/storage_object.ts";
import { isStoreOutage, storageProblem } from "./storage_sentences.ts";

export const OBJECT_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const OBJECT_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
export const TAG_LABELS = inLanguage({ en: en.TAG_LABELS, sv: sv.TAG_LABELS });
export const TAG_SENTENCES = inLanguage({ en: en.TAG_SENTENCES, sv: sv.TAG_SENTENCES });
export const SHARE_LABELS = inLanguage({ en: en.SHARE_LABELS, sv: sv.SHARE_LABELS });
export const SHARE_SENTENCES = inLanguage({ en: en.SHARE_SENTENCES, sv: sv.SHARE_SENTENCES });
const NOT_RESTORED = inLanguage({ en: en.NOT_RESTORED, sv: sv.NOT_RESTORED });

/** Why a version was not restored, by the status of the gateway; 0: there was no response. */
export function restoreProblem(status: number): string {
  const { noRight, gone, changed, noVersions, other } = NOT_RESTORED;
  return changeProblem(status, { 403: noRight, 404: gone, 400: changed, 409: changed, 501: noVersions }, other);
}

/** Why tags were not saved, likewise. */
export function tagProblem(status: number): string {
  const { noRight, badTag, noTags, other } = TAG_SENTENCES;
  const missing = storageProblem(404, "object");
  return changeProblem(status, { 403: noRight, 400: badTag, 422: badTag, 501: noTags, 404: missing }, other);
}

/** @param own sentences for statuses that concern what was to be done */
function changeProblem(
  status: number,
  own: Readonly<Record<number, string>>,
  other: (status: number) => string,
): string {
  return own[status] ?? (isStoreOutage(status) ? storageProblem(status, "object") : other(status));
}
