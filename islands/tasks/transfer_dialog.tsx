import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { callDoor } from "@/lib/client/storage/door.ts";
import { tasksOf } from "@/lib/client/storage/tasks/browser_tasks.ts";
import { isTaken } from "@/lib/client/storage/tasks/look_up.ts";
import { targetBuckets } from "@/lib/client/storage/tasks/target_buckets.ts";
import type { WantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { plannedRows } from "@/lib/presentation/storage/chosen_rows.ts";
import { folderOf, nameIn } from "@/lib/presentation/storage/key_names.ts";
import { readFolderPage } from "@/lib/presentation/storage/listing.ts";
import {
  namesOf,
  namingProblem,
  ON_TAKEN_LABELS,
  placeName,
  reason,
  TASK_LABELS,
} from "@/lib/presentation/storage/task_sentences.ts";
import type { OnTaken } from "@/lib/presentation/storage/task_record.ts";
import { type Place, planTransfer } from "@/lib/presentation/storage/transfer_plan.ts";
import { ChangeDialog } from "./change_dialog.tsx";
import { ChosenRows, useChosenCount } from "./chosen_count.tsx";
import { useUnmountSignal } from "./unmount_signal.ts";

interface TransferDialogProps {
  readonly wanted: Extract<WantedChange, { readonly kind: "move" | "copy" }>;
  onClose(): void;
}

/** What may happen to an object whose new name is in use. */
const ON_TAKEN: readonly OnTaken[] = ["skip", "keep both", "replace"];

/** Folders of a place that are offered. */
const MAX_FOLDERS = 1000;

/** Asks where objects and folders are to go. */
export function TransferDialog({ wanted, onClose }: TransferDialogProps) {
  const { folder, kind, rows, targets, onStart } = wanted;
  const { account, bucket, prefix } = folder;
  const [first] = targets;
  const counted = useChosenCount(folder, rows);
  const to = useSignal<Place>({ bucket: first, prefix: first === bucket ? prefix : "" });
  const onTaken = useSignal<OnTaken>("skip");
  const problem = useSignal<string | null>(null);
  const buckets = useSignal(targets);
  const folders = useSignal<readonly string[]>([]);
  const isLooking = useSignal(false);
  const closed = useUnmountSignal();

  useEffect(() => {
    if (targets.includes(bucket)) void targetBuckets(account, bucket, true).then((all) => buckets.value = all);
  }, []);
  const place = to.value;
  useEffect(() => {
    const stop = new AbortController();
    const parameters = { ...place, delimiter: "/", max_keys: MAX_FOLDERS };
    callDoor("/buckets/:bucket/objects", account, parameters, { signal: stop.signal }).then(({ status, json }) => {
      const page = readFolderPage(json, place.prefix);
      problem.value = page === null ? reason(status) : null;
      folders.value = page?.rows.flatMap((row) => row.kind === "folder" ? [row.key] : []) ?? [];
    }, () => {});
    return () => stop.abort();
  }, [place.bucket, place.prefix]);

  const go = (part: Partial<Place>) => {
    folders.value = [];
    to.value = { ...to.peek(), ...part };
  };
  const confirm = async () => {
    const target = to.peek();
    const plan = planTransfer(rows, { bucket, prefix }, target);
    if ("problem" in plan) return void (problem.value = namingProblem(plan.problem, true));
    if (plan.ontoItself !== null) {
      isLooking.value = true;
      const taken = await isTaken(account, bucket, plan.ontoItself);
      if (closed.aborted) return;
      isLooking.value = false;
      if (taken !== false) return void (problem.value = taken === true ? namingProblem("onto itself") : taken);
    }
    tasksOf(account).start({
      kind,
      ...plannedRows(rows, folder),
      to: target,
      isRename: false,
      steps: plan.steps,
      onTaken: onTaken.peek(),
      objects: counted.count?.objects ?? null,
    });
    onStart();
    onClose();
  };

  const names = namesOf(nameIn(prefix, rows[0].key), rows.length);
  return (
    <ChangeDialog
      title={kind === "move" ? TASK_LABELS.moveOf(names) : TASK_LABELS.copyOf(names)}
      action={kind === "move" ? TASK_LABELS.move : TASK_LABELS.copy}
      isWaiting={!counted.isOver || isLooking.value}
      problem={problem.value}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <ChosenRows rows={rows} prefix={prefix} counted={counted} />
      <label class="line">
        <span>{TASK_LABELS.bucket}</span>
        <select
          value={place.bucket}
          onChange={({ currentTarget: { value } }) => go({ bucket: value, prefix: value === bucket ? prefix : "" })}
        >
          {buckets.value.map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
      </label>
      <label class="line">
        <span>{TASK_LABELS.folder}</span>
        <input
          type="text"
          value={place.prefix}
          placeholder={TASK_LABELS.folderHint}
          autofocus
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          onChange={({ currentTarget: { value } }) =>
            go({ prefix: value === "" || value.endsWith("/") ? value : `${value}/` })}
        />
      </label>
      <ul class="places" aria-label={TASK_LABELS.foldersThere}>
        {place.prefix !== "" && (
          <li key="/">
            <button type="button" class="btn small" onClick={() => go({ prefix: folderOf(place.prefix) })}>
              <Icon name="up" /> {TASK_LABELS.upwards}
            </button>
          </li>
        )}
        {folders.value.map((key) => (
          <li key={key}>
            <button type="button" class="btn small" onClick={() => go({ prefix: key })}>
              <Icon name="folder" /> <KeyName name={nameIn(place.prefix, key)} />
            </button>
          </li>
        ))}
      </ul>
      <fieldset>
        <legend>{TASK_LABELS.onTaken}</legend>
        {ON_TAKEN.map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name="taken"
              checked={onTaken.value === choice}
              onChange={() => onTaken.value = choice}
            />{" "}
            {ON_TAKEN_LABELS[choice]}
          </label>
        ))}
      </fieldset>
      <p class="note">
        <bdi>
          {kind === "move" ? TASK_LABELS.moveHere(placeName(place)) : TASK_LABELS.copyHere(placeName(place))}
        </bdi>
      </p>
    </ChangeDialog>
  );
}
