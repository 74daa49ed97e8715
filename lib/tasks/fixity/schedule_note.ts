import { z } from "zod";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** What the processes with one store of tasks remember of a schedule. Times are ms since 1970. */
const note = z.object({
  /** Times up to it have had their check; where none has, when the schedule was first seen. */
  due: z.int(),
  /** The last check; null: none. Its id is chosen before it is started, so that it is started once. */
  task: z.string().nullable(),
  /** `starting`: it may not be in the store of tasks yet. */
  state: z.enum(["waiting", "starting", "started", "failed"]),
  /** When it was last tried to be started. */
  triedAt: z.int(),
  /** Why it was not started. */
  error: z.string().nullable(),
  /** When a check of the schedule last ended by itself. */
  succeededAt: z.int().nullable(),
});
export type ScheduleNote = z.output<typeof note>;

/** The name of the note of a schedule. */
export function noteName(schedule: string): string {
  return `fixity/${schedule}`;
}

/** Null for none, and for one of another version. */
export function readNote(text: string | null): ScheduleNote | null {
  return text === null ? null : note.safeParse(parsedJson(text)).data ?? null;
}

/** The note of a schedule that is seen for the first time. */
export function firstNote(now: number): ScheduleNote {
  return { due: now, task: null, state: "waiting", triedAt: now, error: null, succeededAt: null };
}
