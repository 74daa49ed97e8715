import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/theme.ts";
import * as sv from "@/locales/sv/theme.ts";

export const THEMES = inLanguage({ en: en.THEMES, sv: sv.THEMES });
