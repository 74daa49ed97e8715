import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { island } from "@/lib/client/island.tsx";
import { announcement } from "@/lib/client/storage/dock.ts";
import { tasksOf } from "@/lib/client/storage/tasks/browser_tasks.ts";
import { recallRefused } from "@/lib/client/storage/refused_changes.ts";
import type { ShownTask, TaskList } from "@/lib/client/storage/tasks/task_list.ts";
import { taskSentence, taskTitle } from "@/lib/presentation/storage/task_sentences.ts";
import { wantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { Dock } from "@/islands/tasks/dock.tsx";

interface StorageTasksProps {
  readonly account: string;
}

/** The dialogs of changes, and the dock with uploads and tasks, on every page of the storage. */
export default island("storage_tasks", function StorageTasks({ account }: StorageTasksProps) {
  const list = useSignal<TaskList | null>(null);
  useEffect(() => {
    recallRefused();
    list.value = tasksOf(account);
  }, []);
  const wanted = wantedChange.value;
  // Most visits of a page change nothing, so the dialogs are loaded with the first change.
  const dialogs = useSignal<typeof import("@/islands/tasks/wanted_dialog.tsx") | null>(null);
  useEffect(() => {
    if (wanted === null || dialogs.value !== null) return;
    import("@/islands/tasks/wanted_dialog.tsx").then((loaded) => dialogs.value = loaded, () => {
      wantedChange.value = null;
    });
  }, [wanted]);
  const Dialog = dialogs.value?.WantedDialog;
  // A confirmed change may have removed the button that opened its dialog.
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && wanted === null && document.activeElement === document.body) {
      document.getElementById("dock-title")?.focus();
    }
    wasOpen.current = wanted !== null;
  }, [wanted]);
  const last = list.value?.lastEnded.value ?? null;
  useEffect(() => {
    if (last) announcement.value = `${taskTitle(last.plan)}: ${endOf(last)}`;
  }, [last]);
  return (
    <>
      <p class="sr" role="status">{announcement.value}</p>
      {wanted && Dialog && <Dialog wanted={wanted} onClose={() => wantedChange.value = null} />}
      <Dock list={list.value} />
    </>
  );
});

function endOf({ plan, state }: ShownTask): string {
  return taskSentence(plan, state.value, { isAway: false, isElsewhere: false });
}
