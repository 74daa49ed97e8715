import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { callDoor } from "@/lib/client/storage/door.ts";
import { targetBuckets } from "@/lib/client/storage/tasks/target_buckets.ts";
import type { WantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { chosenOf, plannedRows } from "@/lib/presentation/storage/chosen_rows.ts";
import { folderOf, nameIn } from "@/lib/presentation/storage/key_names.ts";
import { readFolderPage } from "@/lib/presentation/storage/listing.ts";
import { namesOf, ON_TAKEN_LABELS, placeName, reason, TASK_LABELS } from "@/lib/presentation/storage/task_sentences.ts";
import type { OnTaken, Place } from "@/lib/presentation/storage/task_record.ts";
import { ChangeDialog } from "./change_dialog.tsx";
import { ChosenRows, useChosenCount } from "./chosen_count.tsx";
import { useStart } from "./use_start.ts";

interface TransferDialogProps {
  readonly wanted: Extract<WantedChange, { readonly kind: "move" | "copy" }>;
  onClose(): void;
}

/** What may happen to an object whose new name is in use. */
const ON_TAKEN: readonly OnTaken[] = ["skip", "keep", "replace"];

/** Folders of a place that are offered. */
const MAX_FOLDERS = 1000;

/** Asks where objects and folders are to go. */
export function TransferDialog({ wanted, onClose }: TransferDialogProps) {
  const { folder, kind, rows, targets, onStart } = wanted;
  const { account, bucket, prefix } = folder;
  const [first] = targets;
  const counted = useChosenCount(folder, rows);
  const to = useSignal<Place>({ bucket: first, prefix: first === bucket ? prefix : "" });
  /** What the field of the folder shows: it is typed in while counts and folders arrive. */
  const typed = useSignal(to.peek().prefix);
  const onTaken = useSignal<OnTaken>("skip");
  const buckets = useSignal(targets);
  const folders = useSignal<readonly string[]>([]);
  /** Why the folders are not known. */
  const unread = useSignal<string | null>(null);
  const { problem, isStarting, start } = useStart(() => {
    onStart();
    onClose();
  });

  useEffect(() => {
    if (targets.includes(bucket)) void targetBuckets(account, bucket, true).then((all) => buckets.value = all);
  }, []);
  const place = to.value;
  useEffect(() => {
    const stop = new AbortController();
    const parameters = { ...place, delimiter: "/", max_keys: MAX_FOLDERS };
    callDoor("/buckets/:bucket/objects", account, parameters, { signal: stop.signal }).then(({ status, json }) => {
      const page = readFolderPage(json, place.prefix);
      unread.value = page === null ? reason(status) : null;
      folders.value = page?.rows.flatMap((row) => row.kind === "folder" ? [row.key] : []) ?? [];
    }, () => {});
    return () => stop.abort();
  }, [place.bucket, place.prefix]);

  const go = (part: Partial<Place>) => {
    folders.value = [];
    problem.value = null;
    to.value = { ...to.peek(), ...part };
    typed.value = to.peek().prefix;
  };
  const confirm = () => {
    const target = to.peek();
    const order = { mode: kind, from: prefix, to: target, if_exists: onTaken.peek(), ...chosenOf(rows) };
    return start(account, { kind, ...plannedRows(rows, folder), from: prefix, to: target, isRename: false }, order);
  };

  const names = namesOf(nameIn(prefix, rows[0].key), rows.length);
  return (
    <ChangeDialog
      title={kind === "move" ? TASK_LABELS.moveOf(names) : TASK_LABELS.copyOf(names)}
      action={kind === "move" ? TASK_LABELS.move : TASK_LABELS.copy}
      isWaiting={!counted.isOver || isStarting.value}
      problem={problem.value ?? unread.value}
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
          value={typed.value}
          placeholder={TASK_LABELS.folderHint}
          autofocus
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          onInput={({ currentTarget: { value } }) => typed.value = value}
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
