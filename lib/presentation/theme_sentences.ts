import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/lib/presentation/sentences/en/theme.ts";
import * as sv from "@/lib/presentation/sentences/sv/theme.ts";

export const THEMES = inLanguage({ en: en.THEMES, sv: sv.THEMES });
