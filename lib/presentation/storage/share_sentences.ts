import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage_share.ts";
import * as sv from "@/locales/sv/storage_share.ts";

export const SHARE_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const SHARE_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
