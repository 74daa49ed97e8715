/** What a dialog lets the reader choose. */
export type UploadChoice = "files" | "folder";

let open: ((choice: UploadChoice) => void) | null = null;
/** What was requested before the island with the dialogs was awake: it loads its code by itself, maybe later. */
let waiting: UploadChoice | null = null;

/** Opens the dialog for what is to be uploaded, from another island of the page. It has to be called by a click. */
export function requestUpload(choice: UploadChoice): void {
  if (open) open(choice);
  else waiting = choice;
}

/** Calls back when a dialog is to be opened, at once where that was requested before. @returns a function that ends that */
export function onUploadRequested(call: (choice: UploadChoice) => void): () => void {
  open = call;
  if (waiting !== null) call(waiting);
  waiting = null;
  return () => {
    if (open === call) open = null;
  };
}
