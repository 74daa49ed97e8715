import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage.ts";
import * as sv from "@/locales/sv/storage.ts";

export const STORAGE_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const STORAGE_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
const PROBLEMS = inLanguage({ en: en.PROBLEMS, sv: sv.PROBLEMS });
const FORBIDDEN = inLanguage({ en: en.FORBIDDEN, sv: sv.FORBIDDEN });
const MISSING = inLanguage({ en: en.MISSING, sv: sv.MISSING });

/** Why something of the storage cannot be shown, by the status of the gateway; 0: there was no response. */
export function storageProblem(status: number, what: "buckets" | "folder" | "object"): string {
  switch (status) {
    case 0:
      return PROBLEMS.noServer;
    case 403:
      return FORBIDDEN[what];
    case 404:
      return MISSING[what];
    case 429:
    case 503:
      return PROBLEMS.busy;
    case 502:
      return PROBLEMS.unreachable;
    case 504:
      return PROBLEMS.late;
    default:
      return PROBLEMS.other(status);
  }
}

/** Whether a status concerns the way to the store or its load, not what was to be done; 0: there was no response. */
export function isStoreOutage(status: number): boolean {
  return [0, 429, 502, 503, 504].includes(status);
}
