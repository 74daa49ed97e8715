import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage_object.ts";
import * as sv from "@/locales/sv/storage_object.ts";
import { isStoreOutage, storageProblem } from "./storage_sentences.ts";

export const OBJECT_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const OBJECT_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
const NOT_RESTORED = inLanguage({ en: en.NOT_RESTORED, sv: sv.NOT_RESTORED });

/** Why a version was not restored, by the status of the gateway; 0: there was no response. */
export function restoreProblem(status: number): string {
  switch (status) {
    case 403:
      return NOT_RESTORED.noRight;
    case 404:
      return NOT_RESTORED.gone;
    case 400:
    case 409:
      return NOT_RESTORED.changed;
    case 501:
      return NOT_RESTORED.noVersions;
    default:
      return isStoreOutage(status) ? storageProblem(status, "object") : NOT_RESTORED.other(status);
  }
}
