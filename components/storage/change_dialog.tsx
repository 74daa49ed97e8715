import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { KeyName } from "./key_name.tsx";
import { browserClock, wait } from "@/lib/pages/browser/poller_client.ts";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import type { FolderName } from "@/lib/pages/storage/storage_paths.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { nameIn } from "@/lib/pages/storage/key_names.ts";
import type { StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { TASK_LABELS, TASK_QUESTIONS } from "@/lib/pages/storage/task_sentences.ts";

interface ChangeDialogProps {
  readonly title: string;
  /** The words of the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Whether it cannot be done yet. */
  readonly isWaiting?: boolean;
  /** Why it was not done. */
  readonly problem: Signal<string | null>;
  /** Does it. @returns null, or a sentence why it was not done */
  perform(isClosed: () => boolean): Promise<string | null>;
  /** Called after a success, before the dialog closes. */
  onDone(): void;
  onClose(): void;
  readonly children: ComponentChildren;
}

/** A dialog before a change: what it is about, a button that does it and one that does not. Until it is done, it stays. */
export function ChangeDialog(props: ChangeDialogProps) {
  const { title, action, isDangerous = false, isWaiting = false, problem, perform, onDone, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const isBusy = useSignal(false);
  const isBlocked = isWaiting || isBusy.value;
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    // The focus goes back to what had it, where that is still there.
    return () => current?.close();
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBlocked) return;
    isBusy.value = true;
    const isClosed = () => dialog.current === null;
    const wrong = await perform(isClosed);
    if (isClosed()) return;
    isBusy.value = false;
    problem.value = wrong;
    if (wrong !== null) return;
    onDone();
    onClose();
  };
  return (
    <dialog class="change" ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={heading}>
          <bdi>{title}</bdi>
        </h2>
        {children}
        <p class="wrong" role="alert">{problem.value}</p>
        <div class="btns">
          <button type="button" class="btn" onClick={() => dialog.current?.close()}>{TASK_LABELS.cancel}</button>
          <button type="submit" class={isDangerous ? "btn primary danger" : "btn primary"} aria-disabled={isBlocked}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Folders up to which their objects are counted: each takes a task of the gateway. */
const MAX_FOLDERS = 50;
const POLL_MS = 300;
const PATH = "/buckets/:bucket/objects/s3_stats";

/** Objects and their bytes. */
interface ChosenCount {
  readonly objects: number;
  readonly bytes: number;
}

/**
 * Counts what rows of a folder stand for: folders by tasks of the gateway.
 *
 * @param onCount called with the objects so far
 * @returns null where that cannot be known, or would take too many tasks
 * @throws the signal's reason when it aborts
 */
async function countChosen(
  { account, bucket }: FolderName,
  rows: readonly StorageRow[],
  signal: AbortSignal,
  onCount: (objects: number) => void,
): Promise<ChosenCount | null> {
  const folders = rows.filter(({ kind }) => kind === "folder");
  if (folders.length > MAX_FOLDERS) return null;
  let objects = rows.length - folders.length;
  let bytes = rows.reduce((sum, { size }) => sum + size, 0);
  onCount(objects);
  for (const { key: prefix } of folders) {
    const started = await callStorageApi<CountJson>(PATH, account, { bucket, prefix }, { method: "POST", signal });
    if (started.status !== 202) return null;
    const { task_id } = started.json;
    for (;;) {
      const { status, json } = await callStorageApi<CountJson>(`${PATH}/:task_id`, account, { bucket, task_id }, {
        signal,
      });
      if (status !== 200 || json.status === "failed") return null;
      onCount(objects + json.files);
      if (json.status === "ready") {
        objects += json.files;
        bytes += json.bytes;
        break;
      }
      await wait(browserClock, POLL_MS, signal);
    }
  }
  return { objects, bytes };
}

/** How far the gateway's count is. */
interface CountJson {
  readonly task_id: string;
  readonly status: string;
  readonly files: number;
  readonly bytes: number;
}

/** Names that are listed one by one. */
const MAX_NAMES = 5;

/** The objects in rows: `isOver` once nothing more will be known. */
interface Counted {
  readonly isOver: boolean;
  readonly soFar: number;
  readonly count: ChosenCount | null;
}

/** Counts what rows of a folder stand for, from when a dialog opens until it closes. */
export function useChosenCount(folder: FolderName, rows: readonly StorageRow[]): Counted {
  const counted = useSignal<Counted>({ isOver: false, soFar: 0, count: null });
  useEffect(() => {
    const stop = new AbortController();
    const onCount = (soFar: number) => counted.value = { ...counted.peek(), soFar };
    countChosen(folder, rows, stop.signal, onCount)
      .then((count) => counted.value = { ...counted.peek(), isOver: true, count }, () => {});
    return () => stop.abort();
  }, []);
  return counted.value;
}

interface ChosenRowsProps {
  readonly rows: readonly StorageRow[];
  readonly prefix: string;
  readonly counted: Counted;
}

/** The first names of rows, and how many objects they stand for. */
export function ChosenRows({ rows, prefix, counted: { isOver, soFar, count } }: ChosenRowsProps) {
  return (
    <>
      <ul class="names">
        {rows.slice(0, MAX_NAMES).map(({ key }) => (
          <li key={key}>
            <KeyName name={nameIn(prefix, key)} />
          </li>
        ))}
        {rows.length > MAX_NAMES && <li>{TASK_QUESTIONS.others(rows.length - MAX_NAMES)}</li>}
      </ul>
      <p role="status">
        {!isOver
          ? TASK_QUESTIONS.counting(soFar)
          : count === null
          ? TASK_QUESTIONS.notCounted
          : TASK_QUESTIONS.counted(count.objects, formatBytes(count.bytes))}
      </p>
    </>
  );
}
