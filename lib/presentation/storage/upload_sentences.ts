import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/uploads.ts";
import * as sv from "@/locales/sv/uploads.ts";

export const UPLOAD_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const UPLOAD_HEADS = inLanguage({ en: en.HEADS, sv: sv.HEADS });
export const UPLOAD_STATES = inLanguage({ en: en.STATES, sv: sv.STATES });
export const UPLOAD_NOTICES = inLanguage({ en: en.NOTICES, sv: sv.NOTICES });
const FAULTS = inLanguage({ en: en.FAULTS, sv: sv.FAULTS });

/** Why a file was not uploaded, and what to do. */
interface FaultFacts {
  readonly kind: keyof typeof en.FAULTS;
  /** What the store said. */
  readonly detail: string | null;
  /** How much had left, formatted. */
  readonly sent: string;
}

export function faultSentence({ kind, detail, sent }: FaultFacts): string {
  switch (kind) {
    case "lost":
      return FAULTS.lost(sent);
    case "busy":
    case "refused":
      return FAULTS[kind](detail === null ? "" : `${detail.replace(/[.\s]*$/, ".")} `).trimEnd();
    default:
      return FAULTS[kind];
  }
}
