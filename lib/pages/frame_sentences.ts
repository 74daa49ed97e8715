import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/frame.ts";
import * as sv from "@/locales/sv/frame.ts";

export const THEMES = inLanguage({ en: en.THEMES, sv: sv.THEMES });
export const SCRIPT_FAILURE = inLanguage({ en: en.SCRIPT_FAILURE, sv: sv.SCRIPT_FAILURE });
