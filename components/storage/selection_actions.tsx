import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon, type IconName } from "@/components/icon.tsx";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import type { OfferedChanges } from "@/lib/pages/storage/folder_changes_client.ts";
import { targetBuckets, tasksOf, type WantedChange, wantedChange } from "@/lib/pages/storage/page_tasks_client.ts";
import { chosenOf, plannedRows, type StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { type ApiParameters, downloadPath, type FolderAddress } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import type { Chosen, TaskEnd } from "@/lib/pages/storage/task_record.ts";
import { TASK_LABELS } from "@/lib/pages/storage/task_sentences.ts";
import type { ObjectPage } from "@/lib/s3/listing.ts";
import { loadDialogs } from "./dock.tsx";

interface SelectionActionsProps {
  readonly folder: FolderAddress;
  /** At least one. */
  readonly rows: readonly StorageRow[];
  readonly offered: OfferedChanges;
  /** Something is done with the rows. */
  onStart(): void;
}

/** The actions on selected rows. */
export function SelectionActions({ folder, rows, offered, onStart }: SelectionActionsProps) {
  const { account, bucket, prefix } = folder;
  // They are there by the time one of them is opened.
  useEffect(() => void loadDialogs().catch(() => {}), []);
  const one = rows.length === 1 ? rows[0] : null;
  const zip = () =>
    void tasksOf(account).startShown(
      { kind: "zip", ...plannedRows(rows, folder) },
      () => archiveContents({ account, bucket }, chosenOf(rows)),
    );
  return (
    <>
      {one?.kind === "object"
        ? (
          <a class="btn small" href={downloadPath({ ...folder, key: one.key })}>
            <Icon name="download" /> {STORAGE_LABELS.download}
          </a>
        )
        : <Action icon="download" name={TASK_LABELS.zip} onClick={zip} />}
      <ChangeActions folder={{ account, bucket, prefix }} rows={rows} offered={offered} onStart={onStart} />
    </>
  );
}

interface ChangeActionsProps extends Omit<SelectionActionsProps, "folder"> {
  readonly folder: WantedChange["folder"];
}

/** The actions that change or copy rows: to the bucket itself or to another one, if the account may write to any. */
export function ChangeActions({ folder, rows, offered, onStart }: ChangeActionsProps) {
  const { account, bucket } = folder;
  const others = useSignal<readonly string[]>([]);
  useEffect(() => {
    if (!offered.write) void targetBuckets(account, bucket, false).then((found) => others.value = found);
  }, [account, bucket, offered.write]);
  const targets = offered.write ? [bucket] : others.value;
  const want = (kind: "rename" | "delete") => () => wantedChange.value = { kind, folder, rows, onStart };
  const wantAt = (kind: "move" | "copy") => () => wantedChange.value = { kind, folder, rows, targets, onStart };
  return (
    <>
      {rows.length === 1 && offered.write && offered.delete && (
        <Action icon="rename" name={TASK_LABELS.rename} onClick={want("rename")} />
      )}
      {targets.length > 0 && offered.delete && <Action icon="move" name={TASK_LABELS.move} onClick={wantAt("move")} />}
      {targets.length > 0 && <Action icon="copy" name={TASK_LABELS.copy} onClick={wantAt("copy")} />}
      {offered.delete && <Action icon="bin" name={TASK_LABELS.delete} onClick={want("delete")} />}
    </>
  );
}

interface ActionProps {
  readonly icon: IconName;
  readonly name: string;
  onClick(): void;
}

function Action({ icon, name, onClick }: ActionProps) {
  return (
    <button type="button" class="btn small" onClick={onClick}>
      <Icon name={icon} /> {name}
    </button>
  );
}

interface NewFolderProps {
  readonly folder: FolderAddress;
}

/** The button that creates a folder in a folder. */
export function NewFolder({ folder: { account, bucket, prefix } }: NewFolderProps) {
  const want = () => wantedChange.value = { kind: "folder", folder: { account, bucket, prefix }, onStart() {} };
  return (
    <button type="button" class="btn needs-scripts" onClick={want}>
      <Icon name="plus" /> {TASK_LABELS.newFolder}
    </button>
  );
}

/** Most objects of an archive (gateway). */
const MAX_OBJECTS = 50_000;
const LIST_KEYS = 1000;

/** The contents of an archive: one prefix, or keys, to which those below prefixes are added. */
async function archiveContents(
  { account, bucket }: { readonly account: string; readonly bucket: string },
  { keys, prefixes }: Chosen,
): Promise<{ readonly json: { readonly keys: readonly string[] } | { readonly prefix: string } } | TaskEnd> {
  if (prefixes.length === 1 && keys.length === 0) return { json: { prefix: prefixes[0] } };
  const all = [...keys];
  for (const prefix of prefixes) {
    for (let start_after: string | undefined = "", isMore = true; isMore;) {
      const parameters: ApiParameters = { bucket, prefix, max_keys: LIST_KEYS, start_after };
      const { status, json } = await callStorageApi<ObjectPage>("/buckets/:bucket/objects", account, parameters);
      if (status !== 200) return { how: "failed", status, message: "" };
      all.push(...json.objects.map(({ Key }) => Key));
      if (all.length > MAX_OBJECTS) return { how: "failed", status: 400, message: "" };
      start_after = json.objects.at(-1)?.Key;
      isMore = json.is_truncated && start_after !== undefined;
    }
  }
  return { json: { keys: all } };
}
