import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/log.ts";
import * as sv from "@/locales/sv/log.ts";

export const LOG_SENTENCES = inLanguage({ en: en.LOG_SENTENCES, sv: sv.LOG_SENTENCES });
export const LOG_LABELS = inLanguage({ en: en.LOG_LABELS, sv: sv.LOG_LABELS });
export const LOG_FIGURES = inLanguage({ en: en.LOG_FIGURES, sv: sv.LOG_FIGURES });
export const OUTCOMES = inLanguage({ en: en.OUTCOMES, sv: sv.OUTCOMES });
export const STAGE_TITLES = inLanguage({ en: en.STAGE_TITLES, sv: sv.STAGE_TITLES });
