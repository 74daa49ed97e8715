import type { DoorAnswer } from "@/lib/client/storage/door.ts";
import { integerAt, stringAt } from "@/lib/std/untrusted.ts";
import { doorMessage } from "./door_message.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";
import type { TaskEnd } from "@/lib/presentation/storage/task_record.ts";

/** Waits between two looks at a task, ms: the first and the longest. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2000;

/**
 * Starts a task of the gateway, unless the state names one that was started already.
 *
 * @returns its id, or how it ended before it began
 */
export async function startGatewayTask(
  control: TaskControl,
  operation: string,
  bucket: string,
  json: unknown,
): Promise<string | TaskEnd> {
  const { taskId } = control.state;
  if (taskId !== null) return taskId;
  const answer = await control.call(operation, { bucket }, { method: "POST", json });
  const id = stringAt(answer.json, "task_id");
  if (answer.status !== 202 || id === null) return failure(answer);
  control.change({ taskId: id });
  await control.save();
  return id;
}

/** Looks at a task of the gateway until `read` finds its end. @param read takes over what a response says */
export async function followGatewayTask(
  control: TaskControl,
  look: () => Promise<DoorAnswer>,
  read: (answer: DoorAnswer) => TaskEnd | null | Promise<TaskEnd | null>,
): Promise<TaskEnd> {
  for (let waitMs = FIRST_WAIT_MS;; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.5)) {
    const answer = await look();
    if (answer.status === 404 || answer.status === 410) return { how: "gone" };
    const end = await read(answer);
    if (end !== null) return end;
    await control.pause(waitMs);
  }
}

/** How a task ended whose request failed. @throws TaskStopped for a task that may be tried again as it is */
export function failure(answer: DoorAnswer): TaskEnd {
  if (answer.status === 0) throw new TaskStopped(0);
  return { how: "failed", status: answer.status, message: doorMessage(answer) };
}

/** When the gateway says that a task began and ended, ms since 1970. */
export function timesOf({ json }: DoorAnswer): { readonly startedAt: number | null; readonly endedAt: number | null } {
  return { startedAt: instant(stringAt(json, "started_at")), endedAt: instant(stringAt(json, "ended_at")) };
}

/** A count of a response. */
export function countOf({ json }: DoorAnswer, name: string): number {
  return integerAt(json, name);
}

function instant(text: string | null): number | null {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
