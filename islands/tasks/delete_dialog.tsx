import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { keepsVersions } from "@/lib/client/storage/tasks/look_up.ts";
import type { WantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { chosenOf, plannedRows } from "@/lib/presentation/storage/chosen_rows.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import { namesOf, TASK_LABELS, TASK_QUESTIONS } from "@/lib/presentation/storage/task_sentences.ts";
import { ChangeDialog } from "./change_dialog.tsx";
import { ChosenRows, useChosenCount } from "./chosen_count.tsx";
import { useStart } from "./use_start.ts";

interface DeleteDialogProps {
  readonly wanted: WantedChange;
  readonly rows: readonly StorageRow[];
  onClose(): void;
}

/** Asks whether objects and folders are to be deleted: which, how many objects that is, and whether it can be undone. */
export function DeleteDialog({ wanted: { folder, onStart }, rows, onClose }: DeleteDialogProps) {
  const { account, bucket } = folder;
  const counted = useChosenCount(folder, rows);
  /** Null: not known. */
  const canUndo = useSignal<boolean | null>(null);
  const isKnown = useSignal(false);
  useEffect(() => {
    const stop = new AbortController();
    keepsVersions(account, bucket, stop.signal).then((keeps) => {
      canUndo.value = keeps;
      isKnown.value = true;
    }, () => {});
    return () => stop.abort();
  }, []);

  const planned = plannedRows(rows, folder);
  const { problem, isStarting, start } = useStart(() => {
    onStart();
    onClose();
  });
  const confirm = () =>
    start(account, { kind: "delete", ...planned, canUndo: canUndo.peek() === true }, chosenOf(rows));
  const undo = canUndo.value === null
    ? TASK_QUESTIONS.undoUnknown
    : canUndo.value
    ? TASK_QUESTIONS.canUndo
    : TASK_QUESTIONS.cannotUndo;
  return (
    <ChangeDialog
      title={TASK_LABELS.deleteOf(namesOf(planned.name, rows.length))}
      action={counted.count === null ? TASK_LABELS.delete : TASK_LABELS.deleteCount(counted.count.objects)}
      isDangerous
      isWaiting={!counted.isOver || !isKnown.value || isStarting.value}
      problem={problem.value}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <ChosenRows rows={rows} prefix={folder.prefix} counted={counted} />
      <p>{isKnown.value ? undo : "\u00a0"}</p>
    </ChangeDialog>
  );
}
