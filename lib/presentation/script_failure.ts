import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/script_failure.ts";
import * as sv from "@/locales/sv/script_failure.ts";

export const SCRIPT_FAILURE = inLanguage({ en: en.SCRIPT_FAILURE, sv: sv.SCRIPT_FAILURE });
