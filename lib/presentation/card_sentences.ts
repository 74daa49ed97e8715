import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/card.ts";
import * as sv from "@/locales/sv/card.ts";

export const CARD = inLanguage({ en: en.CARD, sv: sv.CARD });
