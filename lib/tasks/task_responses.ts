import { z } from "zod";
import { HttpError, sentenceOf } from "@/lib/http/errors.ts";
import { type Coded, codedSentence, type CodedText, PROBLEM_CODES } from "@/lib/std/coded.ts";
import { readSentence, storedSentence, type Task, TASK_KINDS } from "./task.ts";

/** How the states of tasks are called in responses. */
export const TASK_STATUS = { running: "processing", ready: "done", failed: "failed", canceled: "canceled" } as const;

/** Members of every progress in responses. All times are ISO 8601 in UTC. */
export const taskTimes = {
  started_at: z.string(),
  updated_at: z.string().meta({ description: "Time of this progress" }),
  ended_at: z.string().nullable(),
};

export function timesOf({ createdAt, updatedAt, endedAt }: Task) {
  return { started_at: iso(createdAt), updated_at: iso(updatedAt), ended_at: endedAt === null ? null : iso(endedAt) };
}

/** A time in ms since 1970 as ISO 8601. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

const code = z.enum(PROBLEM_CODES).meta({ id: "ProblemCode", description: "Stable code of the message beside it" });
const params = z.record(z.string(), z.union([z.string(), z.number()])).meta({
  id: "ProblemParams",
  description: "Values in the message of a code",
});

/** A code with its values; null for a sentence without one, or with one of another version. */
export const codedOrNull = z.object({ code, params: params.optional() }).nullable().catch(null);

/** The members of a code beside a sentence, in schemas; a code of another version is left out. */
export const codeMembers = { code: code.optional().catch(undefined), params: params.optional() };

/** Statuses of errors that may pass (spec, Errors). */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Whether the same work may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof HttpError && TRANSIENT.has(error.status);
}

/** Why a task failed, as a sentence for its owner; null for a fault of this program. */
export function failureSentence(error: unknown): CodedText | null {
  if (!(error instanceof HttpError)) return null;
  const { message } = error;
  if (error.status === 401) {
    return {
      text: `${message}. They were right when the task was started: log in again and start it again`,
      coded: { code: "task_login_refused" },
    };
  }
  if (error.status === 403) {
    return {
      text: `${message}. The account, its password or its permissions may have changed since the task was started`,
      coded: { code: "task_forbidden", params: { message } },
    };
  }
  return sentenceOf(error);
}

/** Members of a response that say why a task failed; none where it did not. */
export function failureMembers(stored: string | null): Partial<Coded> & { error?: string } {
  if (stored === null) return {};
  const { text, coded } = readSentence(stored);
  return { error: text, ...coded };
}

/** The same for a kind of task that has no state "canceled" in its responses. */
export function failureOrCancel({ state, error }: Pick<Task, "state" | "error">): Partial<Coded> & { error?: string } {
  return failureMembers(state === "canceled" ? storedSentence(codedSentence("task_canceled")) : error);
}

const taskSchema = z.object({
  id: z.string(),
  kind: z.enum(TASK_KINDS),
  state: z.enum(["running", "canceling", "ready"]).meta({ description: "`ready`: an archive that can be downloaded" }),
  tenant: z.string().nullable(),
  account: z.string().nullable().meta({ description: "Null where the store confirms no name" }),
  bucket: z.string(),
  started_at: z.string().meta({ description: "ISO 8601, UTC" }),
  own: z.boolean().meta({ description: "Started with the caller's credentials" }),
}).meta({ id: "ActiveTask" });

/** The tasks that count for the limits. */
export const activeTasks = z.object({
  scope: z.enum(["own", "tenant", "all"]).meta({ description: "Which tasks the caller sees" }),
  tasks: z.array(taskSchema).meta({ description: "Oldest first" }),
}).meta({ id: "ActiveTasks" });
export type ActiveTasks = z.output<typeof activeTasks>;
