import { z } from "zod";
import type { Task } from "./task.ts";

/** How the states of tasks are called in responses. */
export const TASK_STATUS = { running: "processing", ready: "done", failed: "failed", canceled: "canceled" } as const;

/** Members of every progress in responses. All times are ISO 8601 in UTC. */
export const taskTimes = {
  started_at: z.string(),
  updated_at: z.string().meta({ description: "When this was stored" }),
  ended_at: z.string().nullable(),
};

export function timesOf({ createdAt, updatedAt, endedAt }: Task) {
  return { started_at: iso(createdAt), updated_at: iso(updatedAt), ended_at: endedAt === null ? null : iso(endedAt) };
}

/** A time in ms since 1970 as ISO 8601. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
