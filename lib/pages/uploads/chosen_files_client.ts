import { signal } from "@preact/signals";
import type { ChosenFile } from "./upload_engine_client.ts";

/** Most files of one choice: their names alone are tens of megabytes. */
export const MAX_FILES = 100_000;
/** Deepest folder that is entered: links of some systems lead in circles. */
const MAX_DEPTH = 64;

/** Files and folders of a drop or a dialog. */
export interface ChosenFiles {
  readonly files: readonly ChosenFile[];
  /** Files and folders that the browser can read again after a reload. */
  readonly handles: readonly FileSystemHandle[];
  /** Whether there were more than {@linkcode MAX_FILES}; then these are not all. */
  readonly isCut: boolean;
  /** Files and folders that could not be read. */
  readonly unreadable: number;
}

/**
 * The files of a drop, those of folders included. It has to be called while the event is handled: the browser empties the
 * transfer afterwards.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<ChosenFiles> {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const loose = items.map((item) => item.getAsFile());
  const handles = await Promise.all(items.map(async (item) => {
    const { getAsFileSystemHandle } = item as DataTransferItem & Partial<WithHandle>;
    return await getAsFileSystemHandle?.call(item).catch(() => null) ?? null;
  }));
  const roots = entries.map((entry, index) => entry ?? loose[index]).filter((root) => root !== null);
  const walked = await walkEntries(roots);
  return { ...walked, handles: handles.filter((handle) => handle !== null) };
}

/** A dropped item in Chromium: its handle can be stored, and read again after a reload. */
interface WithHandle {
  getAsFileSystemHandle(): Promise<FileSystemHandle | null>;
}

/** A file or a folder to walk through. */
type WalkedRoot = File | FileSystemEntry | FileSystemHandle;

/** All files of files and folders, within bounds; what cannot be read is counted. Those of a dialog have their own paths. */
export async function walkEntries(roots: readonly WalkedRoot[]): Promise<ChosenFiles> {
  const files: ChosenFile[] = [];
  let isCut = false;
  let unreadable = 0;
  const walk = async (entry: WalkedRoot, folder: string, depth: number): Promise<void> => {
    if (isCut) return;
    try {
      const children = childrenOf(entry);
      if (children === null) {
        const path = folder + (entry instanceof File && entry.webkitRelativePath || entry.name);
        if (files.length === MAX_FILES) isCut = true;
        else files.push({ path, file: await fileOf(entry) });
      } else if (depth === MAX_DEPTH) unreadable++;
      else for await (const child of children) await walk(child, `${folder}${entry.name}/`, depth + 1);
    } catch {
      unreadable++;
    }
  };
  for (const root of roots) await walk(root, "", 0);
  return { files, handles: [], isCut, unreadable };
}

/** The entries of a folder; null for a file. */
function childrenOf(entry: WalkedRoot): AsyncIterable<WalkedRoot> | null {
  if (entry instanceof File) return null;
  if ("kind" in entry) return entry.kind === "directory" ? (entry as HandleFolder).values() : null;
  return entry.isDirectory ? entriesOf(entry as FileSystemDirectoryEntry) : null;
}

interface HandleFolder extends FileSystemHandle {
  values(): AsyncIterable<FileSystemHandle>;
}

async function fileOf(entry: WalkedRoot): Promise<File> {
  if (entry instanceof File) return entry;
  if ("kind" in entry) return await (entry as FileSystemFileHandle).getFile();
  return await new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
}

/** A folder is read in chunks: browsers return a hundred entries at a time, and none at the end. */
async function* entriesOf(folder: FileSystemDirectoryEntry): AsyncIterable<FileSystemEntry> {
  const reader = folder.createReader();
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    yield* entries;
  }
}

/** The two dialogs. */
export type UploadChoice = "files" | "folder";

/** The dialog to open. A click in one island sets it; the island with the dialogs, which may load later, opens it. */
export const requestedUpload = signal<UploadChoice | null>(null);
