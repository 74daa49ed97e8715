import type { TaskEnd, TaskPlan } from "@/lib/presentation/storage/task_record.ts";
import { runDelete } from "./run_delete.ts";
import { runTransfer } from "./run_transfer.ts";
import { runUndo } from "./run_undo.ts";
import { runZip } from "./run_zip.ts";
import type { TaskControl } from "./task_control.ts";

/**
 * Performs a task, from where its state says.
 *
 * @returns how it ended; undefined: it is done, or was canceled
 * @throws TaskStopped where it cannot go on for now
 */
export async function runTask(control: TaskControl, plan: TaskPlan): Promise<TaskEnd | undefined> {
  switch (plan.kind) {
    case "zip":
      return await runZip(control, plan);
    case "delete":
      return await runDelete(control, plan);
    case "move":
    case "copy":
      return void await runTransfer(control, plan);
    case "undo":
      return void await runUndo(control, plan);
  }
}
