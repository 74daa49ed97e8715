import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/campaigns.ts";
import * as sv from "@/locales/sv/campaigns.ts";

export const BOARD_SENTENCES = inLanguage({ en: en.BOARD_SENTENCES, sv: sv.BOARD_SENTENCES });
export const BOARD_LABELS = inLanguage({ en: en.BOARD_LABELS, sv: sv.BOARD_LABELS });
export const SEGMENT_WORDS = inLanguage({ en: en.SEGMENT_WORDS, sv: sv.SEGMENT_WORDS });
export const SORT_WORDS = inLanguage({ en: en.SORT_WORDS, sv: sv.SORT_WORDS });
export const FIGURE_WORDS = inLanguage({ en: en.FIGURE_WORDS, sv: sv.FIGURE_WORDS });
export const LIST_KEY_WORDS = inLanguage({ en: en.LIST_KEY_WORDS, sv: sv.LIST_KEY_WORDS });

export const CARD = inLanguage({ en: en.CARD, sv: sv.CARD });
