import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "@/components/icon.tsx";
import { KeyName } from "./key_name.tsx";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import { folderChanged, refused } from "@/lib/pages/storage/folder_changes_client.ts";
import { targetBuckets, tasksOf, type WantedChange } from "@/lib/pages/storage/page_tasks_client.ts";
import { apiMessage } from "@/lib/pages/storage/task_list_client.ts";
import { folderOf, nameIn, nameProblem, plainName } from "@/lib/pages/storage/key_names.ts";
import { chosenOf, plannedRows, type StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import type { FolderName } from "@/lib/pages/storage/storage_paths.ts";
import type { OnTaken, Place } from "@/lib/pages/storage/task_record.ts";
import {
  NAME_PROBLEMS,
  namesOf,
  ON_TAKEN_LABELS,
  placeName,
  reason,
  TASK_LABELS,
  TASK_QUESTIONS,
} from "@/lib/pages/storage/task_sentences.ts";
import type { ObjectPage } from "@/lib/s3/listing.ts";
import { ChangeDialog, ChosenRows, useChosenCount } from "./change_dialog.tsx";

interface WantedDialogProps<Wanted extends WantedChange = WantedChange> {
  readonly wanted: Wanted;
  onClose(): void;
}

/** The dialog before a change. */
export function WantedDialog({ wanted, onClose }: WantedDialogProps) {
  switch (wanted.kind) {
    case "folder":
      return <NameDialog wanted={wanted} row={null} onClose={onClose} />;
    case "rename":
      return <NameDialog wanted={wanted} row={wanted.rows[0]} onClose={onClose} />;
    case "delete":
      return <DeleteDialog wanted={wanted} rows={wanted.rows} onClose={onClose} />;
    case "move":
    case "copy":
      return <TransferDialog wanted={wanted} onClose={onClose} />;
  }
}

interface NameDialogProps extends WantedDialogProps {
  /** The row that gets a new name; null: a new folder. */
  readonly row: StorageRow | null;
}

/** Asks for the name of a new folder, or the new name of an object or a folder. */
function NameDialog({ wanted: { folder, onStart }, row, onClose }: NameDialogProps) {
  const { account, bucket, prefix } = folder;
  const old = row === null ? "" : nameIn(prefix, row.key).replace(/\/$/, "");
  const name = useSignal(old);
  const perform = async (isClosed: () => boolean): Promise<string | null> => {
    const wrong = nameProblem(prefix, name.peek());
    if (wrong !== null) return NAME_PROBLEMS[wrong];
    const key = `${prefix}${name.peek()}${row?.kind === "object" ? "" : "/"}`;
    const taken = key === row?.key || await isTaken(account, bucket, key);
    if (typeof taken === "string") return taken;
    if (isClosed()) return null;
    if (taken) return TASK_QUESTIONS.inUse(plainName(name.peek()));
    return row ? await rename(folder, row, key) : await createFolder(folder, key);
  };
  return (
    <ChangeDialog
      title={row === null ? TASK_LABELS.newFolder : TASK_LABELS.renameOf(plainName(old))}
      action={row === null ? TASK_LABELS.create : TASK_LABELS.rename}
      problem={useSignal<string | null>(null)}
      perform={perform}
      onDone={onStart}
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

/** Whether a key, or the prefix of a folder, is in use; or a sentence why that cannot be known. */
async function isTaken(account: string, bucket: string, key: string): Promise<boolean | string> {
  const parameters = { bucket, prefix: key, max_keys: 1 };
  const answer = await callStorageApi<ObjectPage>("/buckets/:bucket/objects", account, parameters);
  if (answer.status !== 200) return reason(answer.status, apiMessage(answer));
  const first = answer.json.objects.at(0);
  return key.endsWith("/") ? first !== undefined : first?.Key === key;
}

async function rename({ account, bucket, prefix }: FolderName, row: StorageRow, key: string) {
  const change = { from: row.key, to: { bucket, prefix: key } };
  const plan = { kind: "move", ...plannedRows([row], { bucket, prefix }), ...change, isRename: true } as const;
  return await tasksOf(account).start(plan, { mode: "move", ...chosenOf([row]), ...change });
}

/** @returns null, or a sentence why it was not created */
async function createFolder({ account, bucket, prefix }: FolderName, key: string): Promise<string | null> {
  const answer = await callStorageApi("/buckets/:bucket/objects/folder", account, { bucket }, {
    method: "POST",
    json: { folder_name: key },
  });
  if (answer.status === 403) refused(account, bucket, "write");
  if (answer.status !== 201) return reason(answer.status, apiMessage(answer));
  folderChanged({ account, bucket, prefix });
  return null;
}

interface DeleteDialogProps extends WantedDialogProps {
  readonly rows: readonly StorageRow[];
}

/** Asks whether objects and folders are to be deleted: which, how many objects that is, and whether it can be undone. */
function DeleteDialog({ wanted: { folder, onStart }, rows, onClose }: DeleteDialogProps) {
  const { account, bucket } = folder;
  const counted = useChosenCount(folder, rows);
  /** Null: not known; undefined: not yet. */
  const canUndo = useSignal<boolean | null | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    keepsVersions(account, bucket, stop.signal).then((keeps) => canUndo.value = keeps, () => {});
    return () => stop.abort();
  }, []);
  const planned = plannedRows(rows, folder);
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
      isWaiting={!counted.isOver || canUndo.value === undefined}
      problem={useSignal<string | null>(null)}
      perform={() => {
        const plan = { kind: "delete", ...planned, canUndo: canUndo.peek() === true } as const;
        return tasksOf(account).start(plan, chosenOf(rows));
      }}
      onDone={onStart}
      onClose={onClose}
    >
      <ChosenRows rows={rows} prefix={folder.prefix} counted={counted} />
      <p>{canUndo.value === undefined ? "\u00a0" : undo}</p>
    </ChangeDialog>
  );
}

/**
 * Whether a bucket keeps versions, so that what is deleted can come back; null where that cannot be known.
 *
 * @throws DOMException `AbortError` when the signal aborts
 */
async function keepsVersions(account: string, bucket: string, signal: AbortSignal): Promise<boolean | null> {
  const operation = "/buckets/:bucket/versioning";
  const { status, json } = await callStorageApi<{ readonly status: string }>(operation, account, { bucket }, {
    signal,
  });
  // Stores without versioning.
  if (status === 501) return false;
  return status === 200 ? json.status === "Enabled" : null;
}

/** The choices for an object whose new name is in use. */
const ON_TAKEN: readonly OnTaken[] = ["skip", "keep", "replace"];

/** Folders of a place that are offered. */
const MAX_FOLDERS = 1000;

type TransferDialogProps = WantedDialogProps<Extract<WantedChange, { readonly kind: "move" | "copy" }>>;

/** Asks where objects and folders are to go. */
function TransferDialog({ wanted, onClose }: TransferDialogProps) {
  const { folder, kind, rows, targets, onStart } = wanted;
  const { account, bucket, prefix } = folder;
  const [first] = targets;
  const counted = useChosenCount(folder, rows);
  const to = useSignal<Place>({ bucket: first, prefix: first === bucket ? prefix : "" });
  /** The text in the field of the folder: it is typed in while counts and folders arrive. */
  const typed = useSignal(to.peek().prefix);
  const onTaken = useSignal<OnTaken>("skip");
  const buckets = useSignal(targets);
  const folders = useSignal<readonly string[]>([]);
  const problem = useSignal<string | null>(null);

  useEffect(() => {
    if (targets.includes(bucket)) void targetBuckets(account, bucket, true).then((all) => buckets.value = all);
  }, []);
  const place = to.value;
  useEffect(() => {
    const stop = new AbortController();
    const parameters = { ...place, delimiter: "/", max_keys: MAX_FOLDERS };
    callStorageApi<ObjectPage>("/buckets/:bucket/objects", account, parameters, { signal: stop.signal })
      .then(({ status, json }) => {
        if (status === 200) folders.value = json.common_prefixes;
        else problem.value = reason(status);
      }, () => {});
    return () => stop.abort();
  }, [place.bucket, place.prefix]);

  const go = (part: Partial<Place>) => {
    folders.value = [];
    problem.value = null;
    to.value = { ...to.peek(), ...part };
    typed.value = to.peek().prefix;
  };
  const perform = () => {
    const target = to.peek();
    const order = { mode: kind, from: prefix, to: target, if_exists: onTaken.peek(), ...chosenOf(rows) };
    const plan = { kind, ...plannedRows(rows, folder), from: prefix, to: target, isRename: false };
    return tasksOf(account).start(plan, order);
  };

  const names = namesOf(nameIn(prefix, rows[0].key), rows.length);
  return (
    <ChangeDialog
      title={kind === "move" ? TASK_LABELS.moveOf(names) : TASK_LABELS.copyOf(names)}
      action={kind === "move" ? TASK_LABELS.move : TASK_LABELS.copy}
      isWaiting={!counted.isOver}
      problem={problem}
      perform={perform}
      onDone={onStart}
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
