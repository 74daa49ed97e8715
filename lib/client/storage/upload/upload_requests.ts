const REQUESTED = "storage-upload-requested";

/** Opens the dialog for files that are to be uploaded, from another island of the page. It has to be called by a click. */
export function requestUpload(): void {
  document.dispatchEvent(new Event(REQUESTED));
}

/** Calls back when the dialog is to be opened. @returns a function that ends that */
export function onUploadRequested(call: () => void): () => void {
  document.addEventListener(REQUESTED, call);
  return () => document.removeEventListener(REQUESTED, call);
}
