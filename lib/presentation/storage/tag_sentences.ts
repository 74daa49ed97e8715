import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage_tags.ts";
import * as sv from "@/locales/sv/storage_tags.ts";
import { isStoreOutage, storageProblem } from "./storage_sentences.ts";

export const TAG_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const TAG_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });

/** Why tags were not saved, by the status of the gateway; 0: there was no response. */
export function tagProblem(status: number): string {
  switch (status) {
    case 403:
      return TAG_SENTENCES.noRight;
    case 400:
    case 422:
      return TAG_SENTENCES.badTag;
    case 501:
      return TAG_SENTENCES.noTags;
    case 404:
      return storageProblem(status, "object");
    default:
      return isStoreOutage(status) ? storageProblem(status, "object") : TAG_SENTENCES.other(status);
  }
}
