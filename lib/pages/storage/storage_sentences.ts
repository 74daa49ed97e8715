import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage.ts";
import * as sv from "@/locales/sv/storage.ts";

export const STORAGE_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const STORAGE_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
/** The effects of a folder's keys, in words. */
export const FOLDER_KEY_WORDS = inLanguage({ en: en.FOLDER_KEY_WORDS, sv: sv.FOLDER_KEY_WORDS });
const PROBLEMS = inLanguage({ en: en.PROBLEMS, sv: sv.PROBLEMS });
const FORBIDDEN = inLanguage({ en: en.FORBIDDEN, sv: sv.FORBIDDEN });
const MISSING = inLanguage({ en: en.MISSING, sv: sv.MISSING });

/** Why something of the storage cannot be shown, by the status of the gateway; 0: there was no response. */
export function storageProblem(status: number, what: "buckets" | "folder" | "object"): string {
  const { noServer, busy, unreachable, late, other } = PROBLEMS;
  const known: Readonly<Record<number, string>> = {
    0: noServer,
    403: FORBIDDEN[what],
    404: MISSING[what],
    429: busy,
    502: unreachable,
    503: busy,
    504: late,
  };
  return known[status] ?? other(status);
}

/** Whether a status concerns the way to the store or its load, not what was to be done; 0: there was no response. */
export function isStoreOutage(status: number): boolean {
  return [0, 429, 502, 503, 504].includes(status);
}
