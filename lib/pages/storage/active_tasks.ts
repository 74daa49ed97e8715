import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage_tasks.ts";
import * as sv from "@/locales/sv/storage_tasks.ts";

/** The words and sentences of the page of the server's tasks. */
export const ACTIVE_TASKS = inLanguage({ en: en.ACTIVE_TASKS, sv: sv.ACTIVE_TASKS });
