import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/pipeline_steps.ts";
import * as sv from "@/locales/sv/pipeline_steps.ts";

/** Steps of pipelines, apart from the card's other sentences: only an open card shows them. */
export const PIPELINE_STEPS = inLanguage({ en: en.PIPELINE_STEPS, sv: sv.PIPELINE_STEPS });
