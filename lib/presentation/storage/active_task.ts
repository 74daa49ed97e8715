import { z } from "zod";

const TASK = z.object({
  id: z.string(),
  kind: z.enum(["count", "zip", "delete", "fixity"]),
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
