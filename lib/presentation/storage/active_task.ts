import { z } from "zod";

import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage_active_tasks.ts";
import * as sv from "@/locales/sv/storage_active_tasks.ts";

export const ACTIVE_TASK_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const ACTIVE_TASK_KINDS = inLanguage({ en: en.KINDS, sv: sv.KINDS });
export const ACTIVE_TASK_STATES = inLanguage({ en: en.STATES, sv: sv.STATES });
export const ACTIVE_TASK_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });

const TASK = z.object({
  id: z.string(),
  kind: z.enum(["count", "zip", "delete", "transfer", "fixity"]),
  state: z.enum(["running", "canceling", "ready"]),
  tenant: z.string().nullable(),
  account: z.string().nullable(),
  bucket: z.string(),
  started_at: z.string(),
});

/** A task of the server that is not over. */
export type ActiveTask = z.output<typeof TASK>;

const LIST = z.object({ scope: z.enum(["own", "tenant", "all"]), tasks: z.array(TASK) });

/** Reads the gateway's list of tasks; null where it is none. */
export function readActiveTasks(answer: unknown): z.output<typeof LIST> | null {
  return LIST.safeParse(answer).data ?? null;
}
