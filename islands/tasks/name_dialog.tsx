import { useSignal } from "@preact/signals";

import { callDoor } from "@/lib/client/storage/door.ts";
import { folderChanged } from "@/lib/client/storage/folder_events.ts";
import { tasksOf } from "@/lib/client/storage/tasks/browser_tasks.ts";
import { doorMessage } from "@/lib/client/storage/tasks/door_message.ts";
import { isTaken } from "@/lib/client/storage/tasks/look_up.ts";
import { refused } from "@/lib/client/storage/refused_changes.ts";
import type { WantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { chosenOf, plannedRows } from "@/lib/presentation/storage/chosen_rows.ts";
import { nameIn, plainName } from "@/lib/presentation/storage/key_names.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import { namingProblem, reason, TASK_LABELS, TASK_QUESTIONS } from "@/lib/presentation/storage/task_sentences.ts";
import { nameProblem } from "@/lib/presentation/storage/upload_names.ts";
import { ChangeDialog } from "./change_dialog.tsx";
import { useUnmountSignal } from "./unmount_signal.ts";

interface NameDialogProps {
  readonly wanted: WantedChange;
  /** What gets a new name; null: a new folder. */
  readonly row: StorageRow | null;
  onClose(): void;
}

/** Asks for the name of a new folder, or the new name of an object or a folder. */
export function NameDialog({ wanted: { folder, onStart }, row, onClose }: NameDialogProps) {
  const { account, bucket, prefix } = folder;
  const old = row === null ? "" : nameIn(prefix, row.key).replace(/\/$/, "");
  const name = useSignal(old);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const closed = useUnmountSignal();

  const perform = async (): Promise<string | null> => {
    const wrong = nameProblem(prefix, name.peek());
    if (wrong !== null) return namingProblem(wrong);
    const key = `${prefix}${name.peek()}${row?.kind === "object" ? "" : "/"}`;
    if (key === row?.key) return TASK_QUESTIONS.inUse(plainName(old));
    const taken = await isTaken(account, bucket, key);
    if (closed.aborted) return null;
    if (typeof taken === "string") return taken;
    if (taken) return TASK_QUESTIONS.inUse(plainName(name.peek()));
    if (row) {
      const change = { from: row.key, to: { bucket, prefix: key } };
      const plan = { kind: "move", ...plannedRows([row], { bucket, prefix }), ...change, isRename: true } as const;
      return await tasksOf(account).start(plan, { mode: "move", ...chosenOf([row]), ...change });
    }
    const answer = await callDoor("/buckets/:bucket/objects/folder", account, { bucket }, {
      method: "POST",
      json: { folder_name: key },
    });
    if (answer.status === 403) refused(account, bucket, "write");
    if (answer.status !== 201) return reason(answer.status, doorMessage(answer));
    folderChanged({ account, bucket, prefix });
    return null;
  };

  const confirm = async () => {
    isBusy.value = true;
    problem.value = await perform();
    if (closed.aborted) return;
    isBusy.value = false;
    if (problem.value !== null) return;
    onStart();
    onClose();
  };

  return (
    <ChangeDialog
      title={row === null ? TASK_LABELS.newFolder : TASK_LABELS.renameOf(plainName(old))}
      action={row === null ? TASK_LABELS.create : TASK_LABELS.rename}
      isWaiting={isBusy.value}
      problem={problem.value}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <label class="line">
        <span>{row === null ? TASK_LABELS.name : TASK_LABELS.newName}</span>
        <input
          type="text"
          value={name.value}
          autofocus
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          onInput={({ currentTarget: { value } }) => name.value = value}
        />
      </label>
      <p class="note">{row === null ? TASK_QUESTIONS.folderAppears : TASK_QUESTIONS.copies}</p>
    </ChangeDialog>
  );
}
