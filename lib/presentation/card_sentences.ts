import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/lib/presentation/sentences/en/card.ts";
import * as sv from "@/lib/presentation/sentences/sv/card.ts";

export const CARD = inLanguage({ en: en.CARD, sv: sv.CARD });
