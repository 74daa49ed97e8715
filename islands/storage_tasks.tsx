import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dock, loadDialogs } from "@/components/storage/dock.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { announcement } from "@/lib/pages/storage/dock_client.ts";
import { recallRefused } from "@/lib/pages/storage/folder_changes_client.ts";
import { isOutdated, OutdatedPage } from "@/lib/pages/browser/load_code_client.tsx";
import { tasksOf, wantedChange } from "@/lib/pages/storage/page_tasks_client.ts";
import type { ShownTask, TaskList } from "@/lib/pages/storage/task_list_client.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";
import { reason, taskSentence, taskTitle } from "@/lib/pages/storage/task_sentences.ts";

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
  const dialogs = useSignal<Awaited<ReturnType<typeof loadDialogs>> | null>(null);
  const isUnloadable = useSignal(false);
  useEffect(() => {
    if (wanted === null) return;
    isUnloadable.value = false;
    loadDialogs().then((loaded) => dialogs.value = loaded, (error) => {
      isUnloadable.value = !(error instanceof OutdatedPage);
      wantedChange.value = null;
    });
  }, [wanted]);
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
      {isOutdated.value && (
        <p class="banner warn unloadable" role="alert">
          {STORAGE_SENTENCES.outdatedPage}{" "}
          <button type="button" class="btn" onClick={() => location.reload()}>{STORAGE_LABELS.reload}</button>
        </p>
      )}
      {isUnloadable.value && <p class="banner bad unloadable" role="alert">{reason(0)}</p>}
      {wanted && dialogs.value && (
        <dialogs.value.WantedDialog
          wanted={wanted}
          onClose={() => wantedChange.value = null}
        />
      )}
      <Dock list={list.value} />
    </>
  );
});

function endOf({ plan, state }: ShownTask): string {
  return taskSentence(plan, state.value, false);
}
