import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage_audit.ts";
import * as sv from "@/locales/sv/storage_audit.ts";

export const AUDIT_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const AUDIT_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
export const AUDIT_RESULT_WORDS = inLanguage({ en: en.RESULTS, sv: sv.RESULTS });
const ACTIONS: Readonly<Record<string, string>> = inLanguage({ en: en.ACTIONS, sv: sv.ACTIONS });
const KINDS = inLanguage({ en: en.KINDS, sv: sv.KINDS });

/** What was done, in words; an action that this page does not know by its own name. */
export function actionWords(action: string): string {
  return Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : action;
}

/** A kind of target that has no name; "" for one that has. */
export function kindWords(kind: string): string {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind] : "";
}
