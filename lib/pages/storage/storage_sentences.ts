import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage.ts";
import * as sv from "@/locales/sv/storage.ts";

export const STORAGE_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const STORAGE_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
/** The effects of a folder's keys, in words. */
export const FOLDER_KEY_WORDS = inLanguage({ en: en.FOLDER_KEY_WORDS, sv: sv.FOLDER_KEY_WORDS });
const OUTAGES: Readonly<Record<number, string>> = inLanguage({ en: en.OUTAGES, sv: sv.OUTAGES });
const FORBIDDEN = inLanguage({ en: en.FORBIDDEN, sv: sv.FORBIDDEN });
const MISSING = inLanguage({ en: en.MISSING, sv: sv.MISSING });

/** Why something of the storage cannot be shown, by the status of the gateway; 0: there was no response. */
export function storageProblem(status: number, what: "buckets" | "folder" | "object"): string {
  if (status === 403) return FORBIDDEN[what];
  return status === 404 ? MISSING[what] : outageSentence(status) ?? STORAGE_SENTENCES.notShown(status);
}

/** Why the store, or the way to it, fails for now; null for other statuses. */
export function outageSentence(status: number): string | null {
  return OUTAGES[status === 503 ? 429 : status] ?? null;
}
