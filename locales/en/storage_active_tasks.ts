import { counted } from "@/lib/pages/locale/figures.ts";

export const LABELS = {
  title: "Tasks of the server",
  kind: "Task",
  state: "State",
  account: "Account",
  bucket: "Bucket",
  started: "Started",
  unknown: "unknown",
  cancel: "Cancel",
  /** The button of a row, for readers of screens. */
  cancelOf: (kind: string, account: string, bucket: string) => `Cancel: ${kind}, ${account}, ${bucket}`,
};

export const KINDS = {
  count: "Count of objects",
  zip: "ZIP archive",
  delete: "Deletion",
  transfer: "Move, copy or undo",
  fixity: "Fixity check",
};

export const STATES = {
  running: "running or waiting",
  canceling: "being cancelled",
  ready: "can be downloaded",
};

export const SENTENCES = {
  own: "Your unfinished tasks, and your archives that can be downloaded.",
  tenant: "The unfinished tasks of all accounts of this tenant, and the archives that can be downloaded. " +
    "What they work on is not shown.",
  all: "The unfinished tasks of all tenants, and the archives that can be downloaded. What they work on is not shown.",
  none: "No task is running or waiting.",
  shown: (shown: number, all: number) => `The oldest ${shown} of ${counted(all, "task", "tasks")}.`,
  canceled: "The task was cancelled. It ends within a few seconds.",
  gone: "The task has ended already, or is not yours.",
};
