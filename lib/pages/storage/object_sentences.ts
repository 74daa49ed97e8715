import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage_object.ts";
import * as sv from "@/locales/sv/storage_object.ts";
import { outageSentence, storageProblem } from "./storage_sentences.ts";

export const OBJECT_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const OBJECT_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
export const TAG_LABELS = inLanguage({ en: en.TAG_LABELS, sv: sv.TAG_LABELS });
export const TAG_SENTENCES = inLanguage({ en: en.TAG_SENTENCES, sv: sv.TAG_SENTENCES });
export const SHARE_LABELS = inLanguage({ en: en.SHARE_LABELS, sv: sv.SHARE_LABELS });
export const SHARE_SENTENCES = inLanguage({ en: en.SHARE_SENTENCES, sv: sv.SHARE_SENTENCES });
const NOT_RESTORED = inLanguage({ en: en.NOT_RESTORED, sv: sv.NOT_RESTORED });
const NOT_SAVED = inLanguage({ en: en.NOT_SAVED, sv: sv.NOT_SAVED });

/** Why a version was not restored, by the status of the gateway; 0: there was no response. */
export function restoreProblem(status: number): string {
  return problemOf(status === 400 ? 409 : status, NOT_RESTORED) ?? OBJECT_SENTENCES.notRestored(status);
}

/** Why tags were not saved. */
export function tagProblem(status: number): string {
  if (status === 404) return storageProblem(404, "object");
  return problemOf(status === 422 ? 400 : status, NOT_SAVED) ?? TAG_SENTENCES.notSaved(status);
}

/** Why a link was not created. */
export function shareProblem(status: number): string {
  if (status === 403) return storageProblem(403, "object");
  return outageSentence(status) ?? SHARE_SENTENCES.noUrl(status);
}

function problemOf(status: number, sentences: Readonly<Record<number, string>>): string | null {
  return sentences[status] ?? outageSentence(status);
}
