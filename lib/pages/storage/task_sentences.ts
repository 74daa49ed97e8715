import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage_tasks.ts";
import * as sv from "@/locales/sv/storage_tasks.ts";
import { formatBytes } from "./file_sizes.ts";
import { nameIn, plainName } from "./key_names.ts";
import { outageSentence } from "./storage_sentences.ts";
import type { Place, TaskPlan, TaskState } from "./task_record.ts";

/** Words of the page of the server's tasks. */
export const ACTIVE_TASKS = inLanguage({ en: en.ACTIVE_TASKS, sv: sv.ACTIVE_TASKS });
export const TASK_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const TASK_QUESTIONS = inLanguage({ en: en.QUESTIONS, sv: sv.QUESTIONS });
const TITLES = inLanguage({ en: en.TITLES, sv: sv.TITLES });
export const ON_TAKEN_LABELS = inLanguage({ en: en.ON_TAKEN, sv: sv.ON_TAKEN });
const PROGRESS = inLanguage({ en: en.PROGRESS, sv: sv.PROGRESS });
const ENDS = inLanguage({ en: en.ENDS, sv: sv.ENDS });
const REASONS: Readonly<Record<number, string>> = inLanguage({ en: en.REASONS, sv: sv.REASONS });
const NOT_DONE = inLanguage({ en: en.NOT_DONE, sv: sv.NOT_DONE });
export const NAME_PROBLEMS = inLanguage({ en: en.NAME_PROBLEMS, sv: sv.NAME_PROBLEMS });

/** Rows by the name of the first one and their number. */
export function namesOf(name: string, rows: number): string {
  return rows === 1 ? TASK_LABELS.one(plainName(name)) : TASK_LABELS.several(plainName(name), rows - 1);
}

/** A folder as people write it: `bucket/a/b/`. */
export function placeName({ bucket, prefix }: Place): string {
  return plainName(`${bucket}/${prefix}`);
}

/** A task in words. */
export function taskTitle(plan: TaskPlan): string {
  const names = namesOf(plan.name, plan.rows);
  if (plan.kind !== "move" && plan.kind !== "copy") return TITLES[plan.kind](names);
  if (plan.isRename) return TITLES.rename(names, plainName(nameIn(plan.place.prefix, plan.to.prefix)));
  return TITLES[plan.kind](names, placeName(plan.to));
}

/** How far tasks are together: `2 tasks running`, else how many failed, else how many are done. */
export function tasksLine(states: readonly Pick<TaskState, "end" | "failed">[]): string {
  const running = states.filter(({ end }) => end === null).length;
  if (running > 0) return TASK_LABELS.running(running);
  const failed = states.filter(isTroubled).length;
  return failed > 0 ? TASK_LABELS.failed(failed) : TASK_LABELS.done(states.length);
}

/** Whether a task has ended and did not do all that it was to do. */
export function isTroubled({ end, failed }: Pick<TaskState, "end" | "failed">): boolean {
  return end !== null && (end.how === "failed" || failed > 0);
}

/** How far a task is, or how it ended: one or several sentences. @param isAway whether it waits for the network */
export function taskSentence(plan: TaskPlan, state: TaskState, isAway: boolean): string {
  const { end } = state;
  if (end !== null) return endSentences(plan, state, end).join(" ");
  if (state.isCanceling) return PROGRESS.canceling;
  return isAway ? `${PROGRESS.away} ${progress(plan, state)}` : progress(plan, state);
}

/** Why the store did not do something. @param message what it said itself */
export function reason(status: number, message = ""): string {
  const why = outageSentence(status) ?? REASONS[status === 413 ? 507 : status] ?? NOT_DONE.other(status);
  return message === "" ? why : `${why} ${NOT_DONE.said(message)}`;
}

/** Why a task was not started. @param message what the gateway said */
export function startProblem(status: number, message: string): string {
  if (status === 400 && message !== "") return message;
  if (status === 413 || status === 422) return NOT_DONE.tooManyChosen;
  return status === 429 ? NOT_DONE.tooManyTasks : reason(status, message);
}

/** The words above a task's list of faults. */
export function faultsTitle({ failed, faults }: TaskState): string {
  return failed > faults.length ? ENDS.listed(faults.length) : TASK_LABELS.notDone;
}

function progress({ kind }: TaskPlan, { total, done, deleted, taskId }: TaskState): string {
  if (taskId === null || total === null) return PROGRESS.begins;
  if (done === 0 && kind !== "zip" && kind !== "undo") return PROGRESS.counting(total);
  return PROGRESS[kind](done, total, deleted);
}

function endSentences(plan: TaskPlan, state: TaskState, end: NonNullable<TaskState["end"]>): string[] {
  const { done, total, skipped, renamed, failed, bytes } = state;
  const rest = [
    ...renamed > 0 ? [ENDS.renamed(renamed)] : [],
    ...skipped > 0 ? [ENDS.skipped(skipped)] : [],
    ...failed > 0 && plan.kind !== "zip" ? [ENDS.failed(failed)] : [],
  ];
  switch (end.how) {
    case "gone":
      return [ENDS.gone];
    case "canceled":
      return [ENDS.canceled(progress(plan, state)), ...rest];
    case "failed":
      if (plan.kind === "zip" && end.status === 400) return [NOT_DONE.tooMany];
      if (end.status === 429) return [NOT_DONE.tooManyTasks];
      return [
        end.status === 0 && end.message !== "" ? NOT_DONE.said(end.message) : reason(end.status, end.message),
        ...rest,
      ];
    case "done":
      break;
  }
  if (plan.kind === "zip") {
    return [ENDS.zip((total ?? done) - failed, formatBytes(bytes)), ...failed > 0 ? [ENDS.zipMissing(failed)] : []];
  }
  const isRenamed = (plan.kind === "move" || plan.kind === "copy") && plan.isRename && done > 0;
  return [isRenamed && rest.length === 0 ? ENDS.rename : ENDS[plan.kind](done), ...rest];
}
