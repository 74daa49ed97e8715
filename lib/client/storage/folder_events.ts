const CHANGED = "storage-folder-changed";

/** A folder whose names have changed. */
interface ChangedFolder {
  readonly account: string;
  readonly bucket: string;
  readonly prefix: string;
}

/** Reports that names came into a folder, or left it: an island that shows the folder reads it again. */
export function folderChanged(folder: ChangedFolder): void {
  document.dispatchEvent(new CustomEvent<ChangedFolder>(CHANGED, { detail: folder }));
}

/** Calls back when a folder has changed. @returns a function that ends that */
export function onFolderChanged(folder: ChangedFolder, call: () => void): () => void {
  const changed = (event: Event) => {
    const { detail } = event as CustomEvent<ChangedFolder>;
    if (detail.account === folder.account && detail.bucket === folder.bucket && detail.prefix === folder.prefix) call();
  };
  document.addEventListener(CHANGED, changed);
  return () => document.removeEventListener(CHANGED, changed);
}
