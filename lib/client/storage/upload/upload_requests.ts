const REQUESTED = "storage-upload-requested";

/** What a dialog lets the reader choose. */
export type UploadChoice = "files" | "folder";

/** Opens the dialog for what is to be uploaded, from another island of the page. It has to be called by a click. */
export function requestUpload(choice: UploadChoice): void {
  document.dispatchEvent(new CustomEvent<UploadChoice>(REQUESTED, { detail: choice }));
}

/** Calls back when a dialog is to be opened. @returns a function that ends that */
export function onUploadRequested(call: (choice: UploadChoice) => void): () => void {
  const requested = (event: Event) => call((event as CustomEvent<UploadChoice>).detail);
  document.addEventListener(REQUESTED, requested);
  return () => document.removeEventListener(REQUESTED, requested);
}
