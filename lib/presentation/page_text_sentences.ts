import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/page_text.ts";
import * as sv from "@/locales/sv/page_text.ts";

export const PAGE_TEXT_SENTENCES = inLanguage({ en: en.PAGE_TEXT_SENTENCES, sv: sv.PAGE_TEXT_SENTENCES });
export const PAGE_TEXT_LABELS = inLanguage({ en: en.PAGE_TEXT_LABELS, sv: sv.PAGE_TEXT_LABELS });
export const CONFIDENCE_WORDS = inLanguage({ en: en.CONFIDENCE_WORDS, sv: sv.CONFIDENCE_WORDS });
export const PAGE_PROBLEMS = inLanguage({ en: en.PAGE_PROBLEMS, sv: sv.PAGE_PROBLEMS });
