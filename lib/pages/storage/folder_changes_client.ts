import { signal } from "@preact/signals";
import type { FolderName } from "./storage_paths.ts";
import { STORAGE_SENTENCES } from "./storage_sentences.ts";
import { store, stored } from "@/lib/pages/browser/browser_memory_client.ts";
import { entries, parsedJson } from "@/lib/std/untrusted.ts";

const CHANGED = "storage-folder-changed";

/** Reports that names came into a folder, or left it: an island that shows the folder reads it again. */
export function folderChanged(folder: FolderName): void {
  document.dispatchEvent(new CustomEvent<FolderName>(CHANGED, { detail: folder }));
}

/** Calls back when a folder has changed. @returns a function that ends that */
export function onFolderChanged(folder: FolderName, call: () => void): () => void {
  const changed = (event: Event) => {
    const { detail } = event as CustomEvent<FolderName>;
    if (detail.account === folder.account && detail.bucket === folder.bucket && detail.prefix === folder.prefix) call();
  };
  document.addEventListener(CHANGED, changed);
  return () => document.removeEventListener(CHANGED, changed);
}

const KEY = "stackroom.refused-changes";
const MAX_REFUSED = 100;
/** After this time a change is offered again, ms: the account may have been granted it. */
const REMEMBERED_MS = 10 * 60 * 1000;

/** A change of a bucket by an account, and when the store forbade it, ms since 1970. */
type Refused = readonly [name: string, at: number];

const known = signal<readonly Refused[]>([]);

/** Remembers for this tab that the store forbade a change, which not every store says before. */
export function refused(account: string, bucket: string, change: Change): void {
  const name = nameOf(account, bucket, change);
  known.value = [...known.peek().filter((one) => one[0] !== name), [name, Date.now()] as const].slice(-MAX_REFUSED);
  store(KEY, JSON.stringify(known.peek()), "session");
}

/**
 * Which changes of a bucket this tab offers: those that its server found to be allowed, less those that the store has
 * forbidden since.
 */
export function offeredChanges(account: string, bucket: string, found: OfferedChanges): OfferedChanges {
  const isRefused = (change: Change) => {
    const name = nameOf(account, bucket, change);
    return known.value.some((one) => one[0] === name && Date.now() - one[1] < REMEMBERED_MS);
  };
  return { write: found.write && !isRefused("write"), delete: found.delete && !isRefused("delete") };
}

/** Restores what earlier pages of this tab have stored. */
export function recallRefused(): void {
  known.value = entries(parsedJson(stored(KEY, "session") ?? "")) as readonly Refused[];
}

function nameOf(...names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Changes of a bucket that stores allow apart: `write` new and replaced objects and their tags. */
type Change = "write" | "delete";

/** Which changes of a bucket are offered: all but those that the store is known to forbid. */
export type OfferedChanges = Readonly<Record<Change, boolean>>;

/** Why changes of a bucket are not offered; null where all are. */
export function notOfferedSentence(offered: OfferedChanges): string | null {
  if (!offered.write) return offered.delete ? STORAGE_SENTENCES.noWriting : STORAGE_SENTENCES.readOnly;
  return offered.delete ? null : STORAGE_SENTENCES.noDeleting;
}
