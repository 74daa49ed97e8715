import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage_active_tasks.ts";
import * as sv from "@/locales/sv/storage_active_tasks.ts";

export const ACTIVE_TASK_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const ACTIVE_TASK_KINDS = inLanguage({ en: en.KINDS, sv: sv.KINDS });
export const ACTIVE_TASK_STATES = inLanguage({ en: en.STATES, sv: sv.STATES });
export const ACTIVE_TASK_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
