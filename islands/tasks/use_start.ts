import { useSignal } from "@preact/signals";

import { tasksOf } from "@/lib/client/storage/tasks/browser_tasks.ts";
import type { TaskPlan } from "@/lib/presentation/storage/task_record.ts";
import { useUnmountSignal } from "./unmount_signal.ts";

/** Starts the task of a dialog, which stays and says why where it was not started. */
export function useStart(onStarted: () => void) {
  const problem = useSignal<string | null>(null);
  const isStarting = useSignal(false);
  const closed = useUnmountSignal();
  const start = async (account: string, plan: TaskPlan, json: unknown) => {
    isStarting.value = true;
    const wrong = await tasksOf(account).start(plan, json);
    if (closed.aborted) return;
    isStarting.value = false;
    problem.value = wrong;
    if (wrong === null) onStarted();
  };
  return { problem, isStarting, start };
}
