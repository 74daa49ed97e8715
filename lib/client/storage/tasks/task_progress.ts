import type { DoorAnswer } from "@/lib/client/storage/door.ts";
import { codedText } from "@/lib/presentation/coded_sentences.ts";
import type { TaskEnd, TaskFault, TaskPlan, TaskState } from "@/lib/presentation/storage/task_record.ts";
import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";
import { doorMessage } from "./door_message.ts";

const TRANSFER = { path: "/buckets/:bucket/transfer", done: "done" };

/** The operations of the gateway that perform tasks, and the member of their responses that says what is done. */
export const OPERATIONS: Readonly<Record<TaskPlan["kind"], { readonly path: string; readonly done: string }>> = {
  zip: { path: "/buckets/:bucket/objects/download", done: "completed" },
  delete: { path: "/buckets/:bucket/objects/delete-task", done: "deleted" },
  move: TRANSFER,
  copy: TRANSFER,
  undo: TRANSFER,
};

/** What a response says of a task; null: it says nothing, and another one may. */
export function readProgress({ kind }: TaskPlan, answer: DoorAnswer): Partial<TaskState> | null {
  const { status, json } = answer;
  if (status === 404 || status === 410) return { end: { how: "gone" } };
  const failure = stringAt(json, "detail", "status") === "failed" ? member(json, "detail") : null;
  if (failure !== null) return { end: failed(failure) };
  if (status !== 200 && status !== 202) {
    const isPassing = status === 0 || status === 429 || status >= 500;
    return isPassing ? null : { end: { how: "failed", status, message: doorMessage(answer) } };
  }
  return {
    taskId: stringAt(json, "task_id"),
    total: integerAt(json, "total"),
    done: integerAt(json, OPERATIONS[kind].done),
    deleted: integerAt(json, "deleted"),
    skipped: integerAt(json, "skipped"),
    renamed: integerAt(json, "renamed"),
    failed: integerAt(json, "failed"),
    bytes: integerAt(json, "bytes"),
    faults: [...entries(member(json, "errors")), ...entries(member(json, "failed_keys"))].map(faultOf),
    startedAt: instant(stringAt(json, "started_at")),
    endedAt: instant(stringAt(json, "ended_at")),
    end: endOf(json),
  };
}

function endOf(json: unknown): TaskEnd | null {
  switch (stringAt(json, "status")) {
    case "done":
      return { how: "done" };
    case "canceled":
      return { how: "canceled" };
    case "failed":
      return failed(json);
    case "ready":
      return { how: stringAt(json, "download_url") === null ? "gone" : "done" };
    default:
      return null;
  }
}

function failed(json: unknown): TaskEnd {
  const status = stringAt(json, "code") === "task_forbidden" ? 403 : 0;
  return { how: "failed", status, message: codedText(json, "error") };
}

/** A key alone where nothing else is known. */
function faultOf(error: unknown): TaskFault {
  if (typeof error === "string") return { key: error, status: 0, message: "" };
  const message = codedText(error, "Message");
  const isForbidden = stringAt(error, "Code") === "AccessDenied";
  const status = isForbidden ? 403 : stringAt(error, "code") === null ? integerAt(error, "Status") : 0;
  return {
    key: stringAt(error, "Key") ?? "",
    status,
    message: status === 412 ? "" : message || (stringAt(error, "Code") ?? ""),
  };
}

function instant(text: string | null): number | null {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
